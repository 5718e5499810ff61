"""The 36 networks and 6 controls of a seed: which kind learns which formula."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from closedform_bench.formulas.drawn_forms import draw_forms
from closedform_bench.formulas.form_classes import CLASSES
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.surrogates import surrogate_problems
from closedform_bench.formulas.trained import PHIS
from closedform_bench.unfamiliar import comparers, mechanics, predictors
from closedform_bench.unfamiliar.material import (
    N_READ,
    N_TRAINING,
    Material,
    Train,
    Trained,
    material_of,
)  # fmt: skip

KINDS: dict[str, Train] = {
    "GNN": mechanics.graph,
    "GRU": predictors.recurrent,
    "transformer": predictors.attentive,
    "VAE": comparers.variational,
    "contrastive": comparers.contrastive,
    "flow": comparers.flow,
    "Hamiltonian": mechanics.hamiltonian,
    "PINN": mechanics.informed,
    "RankNet": comparers.ranking,
    "DeepSurv": comparers.survival,
    "quantile": predictors.quantiles,
    "BatchNorm": predictors.normalised,
    "GP pipeline": predictors.gaussian_pipeline,
    "Equinox": predictors.equinox,
}
"""In the order in which they take formulas."""

SUITES = ("random", "forms", "surrogates")
N_NETWORKS = 36
MOST_INPUTS = 4
"""Of a formula: what is trained for seconds, in part on orders or sums alone, learns no more."""

CONTROLS = (
    ("untrained", "GRU"), ("shuffled", "BatchNorm"), ("waves", "quantile"),
    ("untrained", "transformer"), ("shuffled", "RankNet"), ("waves", "Equinox"),
)  # fmt: skip
"""What there is to learn, and the kind that does not find a formula in it."""


@dataclass(frozen=True, slots=True)
class Unfamiliar:
    """One network to train and read.

    Attributes
    ----------
    name, kind, suite : str
        Of a control the suite is what it is.
    phi : str
        What the network is shown of the formula.
    problem : Problem or None
    seed : int
        Of the draw.
    number : int
    """

    name: str
    kind: str
    suite: str
    phi: str
    problem: Problem | None
    seed: int
    number: int

    def train(self, training: int) -> tuple[Material, Trained]:
        """One of its trainings; a control's also draws what is to be learned."""
        rng = np.random.default_rng([self.seed, 44, self.number, training])
        if self.problem is None:
            material = _CONTROL_MATERIAL[self.suite](rng)
        else:
            material = material_of(self.problem, self.phi, rng)
        return material, KINDS[self.kind](material, rng)


def draw_networks(seed: int) -> list[Unfamiliar]:
    """All of a seed, each by the seed and its number alone."""
    networks = [_network(seed, number) for number in range(N_NETWORKS)]
    controls = [
        Unfamiliar(f"control-{number}", kind, suite, "g", None, seed, N_NETWORKS + number)
        for number, (suite, kind) in enumerate(CONTROLS)
    ]
    return networks + controls


def _network(seed: int, number: int) -> Unfamiliar:
    rng = np.random.default_rng([seed, 43, number])
    kind = list(KINDS)[number % len(KINDS)]
    suite = SUITES[number % len(SUITES)]
    while True:
        problem = _draw(suite, rng)
        inputs = len(problem.names)
        if 2 <= inputs <= MOST_INPUTS and not (kind == "Hamiltonian" and inputs % 2):
            break
    # These three are trained on the formula itself: on its sums, its slopes, its equation.
    phi = "g" if kind in ("GNN", "Hamiltonian", "PINN") else str(rng.choice(list(PHIS)))
    return Unfamiliar(f"{kind}-{number // len(KINDS)}", kind, suite, phi, problem, seed, number)


def _draw(suite: str, rng: np.random.Generator) -> Problem:
    seed = int(rng.integers(2**31))
    if suite == "random":
        return draw_problems(1, seed)[0]
    if suite == "forms":
        return draw_forms(1 + int(rng.integers(len(CLASSES))), seed)[-1]
    # The unseen half stays unseen: whoever works on the search reads these rows.
    seen = surrogate_problems("seen")
    return seen[int(rng.integers(len(seen)))]


def _waves(
    rng: np.random.Generator, *, shuffled: bool = False, steps: int | None = None
) -> Material:
    """A sum of sines in random directions, as it is or in another order."""
    n_inputs = int(rng.integers(2, 5))
    points = rng.uniform(-1.5, 1.5, (N_TRAINING + N_READ, n_inputs))
    waves = rng.normal(size=(6, n_inputs)) * 1.5
    values = np.sin(points @ waves.T + rng.uniform(0, 2 * np.pi, 6)) @ rng.normal(size=6)
    targets = ((values - values.mean()) / values.std())[:N_TRAINING]
    names = tuple(f"x{place + 1}" for place in range(n_inputs))
    made = partial(
        Material, names, points[:N_TRAINING],
        targets[rng.permutation(N_TRAINING)] if shuffled else targets, points[N_TRAINING:],
    )  # fmt: skip
    return made() if steps is None else made(steps=steps)


_CONTROL_MATERIAL = {
    "waves": _waves,
    "shuffled": partial(_waves, shuffled=True),
    "untrained": partial(_waves, steps=0),
}
