"""The twelve experiments by number."""

from functools import partial

from closedform_bench.paper import dynamics, matrices, spacetime
from closedform_bench.paper.experiment import Experiment

_ANTISYMMETRIC = (
    "A11 = 0",
    "A22 = 0",
    "A33 = 0",
    "A12 + A21 = 0",
    "A13 + A31 = 0",
    "A23 + A32 = 0",
)

EXPERIMENTS = {
    experiment.number: experiment
    for experiment in (
        Experiment(
            1, "2x2 matrices", matrices.entry_names(2), partial(matrices.similar_matrices, size=2)
        ),
        Experiment(
            2,
            "2x2 matrices of one trace",
            matrices.entry_names(2),
            matrices.similar_matrices_of_one_trace,
            (f"A11 + A22 = {matrices.TRACE:g}",),
        ),
        Experiment(
            3, "3x3 matrices", matrices.entry_names(3), partial(matrices.similar_matrices, size=3)
        ),
        Experiment(
            4,
            "antisymmetric 3x3 matrices",
            matrices.entry_names(3),
            matrices.antisymmetric_matrices,
            _ANTISYMMETRIC,
        ),
        Experiment(
            5, "4x4 matrices", matrices.entry_names(4), partial(matrices.similar_matrices, size=4)
        ),
        Experiment(
            6,
            "electromagnetic fields",
            spacetime.FIELD_INPUTS,
            spacetime.electromagnetic_fields,
            (spacetime.FIELD_HELD,),
        ),
        Experiment(
            7,
            "harmonic potential",
            dynamics.LINE_INPUTS,
            partial(dynamics.trajectories, motion=dynamics.harmonic),
        ),
        Experiment(
            8,
            "quartic potential",
            dynamics.LINE_INPUTS,
            partial(dynamics.trajectories, motion=dynamics.quartic),
        ),
        Experiment(
            9,
            "sine potential",
            dynamics.LINE_INPUTS,
            partial(dynamics.trajectories, motion=dynamics.sine),
        ),
        Experiment(
            10,
            "exponential potential",
            dynamics.LINE_INPUTS,
            partial(dynamics.trajectories, motion=dynamics.exponential),
        ),
        Experiment(
            11,
            "orbits around a centre",
            dynamics.PLANE_INPUTS,
            dynamics.orbits,
            (dynamics.PLANE_HELD,),
        ),
        Experiment(12, "events in spacetime", spacetime.EVENT_INPUTS, spacetime.events),
    )
}
