"""What the term search finds alone, and how fast: ``OMP_NUM_THREADS=1 python
bench/scripts/search_terms.py [part ...]``.

Parts: targets, units, latents, large. Each line gives the worst of five seeds: success means that
the best candidate on the front, chosen on training points only, has a held-out max(1 - cos^2) below
1e-6. Seconds are those of the search after compilation, by the clock and by the processor (they
differ on a busy machine).
"""

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

import closedform as cf
from closedform.arrays import FloatArray
from closedform.basics.progress import Silent
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult
from closedform.searching.space import SearchSpace
from closedform.searching.terms.term_engine import TermSearch

SEEDS = range(5)
N_TRAIN, N_HELD_OUT = 512, 1000

Sampler = Callable[[int, int, np.random.Generator], FloatArray]


def normal(n_points: int, n_inputs: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal points."""
    return rng.normal(size=(n_points, n_inputs))


def uniform(bound: float) -> Sampler:
    """Uniform points."""
    return lambda n_points, n_inputs, rng: rng.uniform(-bound, bound, (n_points, n_inputs))


TARGETS: dict[str, tuple[int, str, Sampler]] = {
    "det2": (4, "x0*x3 - x1*x2", normal),
    "EB": (6, "x0*x3 + x1*x4 + x2*x5", normal),
    "mink": (4, "x0**2 - x1**2 - x2**2 - x3**2", normal),
    "off3": (9, "x1*x3 + x5*x7 + x2*x6", normal),
    "angmom": (4, "x0*x3 - x1*x2", uniform(3)),
    "inv2": (9, "x0*x4 + x0*x8 + x4*x8 - x1*x3 - x2*x6 - x5*x7", normal),
    "det3": (9, "x0*(x4*x8 - x5*x7) - x1*(x3*x8 - x5*x6) + x2*(x3*x7 - x4*x6)", normal),
    "eb16": (16, "x1*x11 + x2*x13 + x3*x6", normal),
    "pend": (2, "x1**2/2 + sin(x0)", uniform(3)),
    "expo": (2, "x0**2/2 + x1**2/2 + exp(x0 + 1)", uniform(2)),
}


def truth_of(text: str, n_inputs: int) -> Expression:
    """The target; the search never sees it."""
    return cf.parse(text, names=[f"x{i}" for i in range(n_inputs)])


def search(
    field: GradientField, seed: int, engine: TermSearch
) -> tuple[SearchResult, float, float]:
    """Result, seconds and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    result = engine.search(
        field, SearchSpace(), Budget(seconds=60), np.random.default_rng(seed), Silent()
    )
    return result, time.perf_counter() - wall, time.process_time() - processor


def worst_angle(
    candidate: Expression, truth: Expression, points: FloatArray, factor: FloatArray
) -> float:
    """Largest 1 - cos^2 between gradients, in the inputs in which the target is written."""
    found, true = candidate.gradient(points * factor) * factor, truth.gradient(points)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    true /= np.linalg.norm(true, axis=1, keepdims=True)
    # As a residual: 1 - cos^2 itself would be rounded at 1e-16.
    return float(
        ((found - true * np.einsum("nd,nd->n", found, true)[:, None]) ** 2).sum(axis=1).max()
    )


def run_target(
    name: str, seed: int, scale_first: float, engine: TermSearch
) -> tuple[float, float, float, str]:
    """Held-out angle, seconds, processor seconds and text of the best candidate for one target and
    seed.
    """
    n_inputs, text, sample = TARGETS[name]
    truth = truth_of(text, n_inputs)
    rng = np.random.default_rng([2024, seed])
    points, held_out = sample(N_TRAIN, n_inputs, rng), sample(N_HELD_OUT, n_inputs, rng)
    factor = np.ones(n_inputs)
    factor[0] = scale_first
    field = GradientField.from_arrays(
        points * factor, truth.gradient(points) / factor, names=truth.names
    )
    result, wall, processor = search(field, seed, engine)
    best = result.front.best
    if best is None:
        return 1.0, wall, processor, "nothing"
    return (
        worst_angle(best.expression, truth, held_out, factor),
        wall,
        processor,
        str(best.expression),
    )


def print_targets(names: list[str], scales: list[float]) -> None:
    """Five seeds of each target."""
    print(
        "| target | first input times | found | worst held-out | seconds | processor | "
        "answer |\n|---|---|---|---|---|---|---|"
    )
    engine = TermSearch()
    run_target("det2", 99, 1.0, engine)
    for name in names:
        for scale in scales:
            runs = [run_target(name, seed, scale, engine) for seed in SEEDS]
            found = sum(run[0] < 1e-6 for run in runs)
            angle, wall, processor = (max(run[i] for run in runs) for i in range(3))  # type: ignore[type-var]
            print(
                f"| {name} | {scale:g} | {found}/5 | {angle:.1e} | {wall:.2f} | "
                f"{processor:.2f} | `{runs[0][3]}` |",
                flush=True,
            )


def print_latents() -> None:
    """Two latents that mix E.B and E^2 - B^2."""
    first = truth_of("x0*x3 + x1*x4 + x2*x5", 6)
    second = truth_of("x0**2 + x1**2 + x2**2 - x3**2 - x4**2 - x5**2", 6)
    print("| seed | E.B | E^2 - B^2 | seconds | processor | concepts |\n|---|---|---|---|---|---|")
    for seed in SEEDS:
        points = np.random.default_rng([2024, seed]).normal(size=(N_TRAIN, 6))
        one, two = first.gradient(points), second.gradient(points)
        jacobians = np.stack(
            [one + 0.3 * two, (0.5 * one - two) * (1 + points[:, :1] ** 2)], axis=1
        )
        field = GradientField.from_arrays(points, jacobians, names=first.names)
        result, wall, processor = search(field, seed, TermSearch())
        others = [cf.parse(text, names=first.names) for text in result.statistics["concepts"]]
        angles = [
            min(worst_angle(other, truth, points, np.ones(6)) for other in others)
            for truth in (first, second)
        ]
        print(
            f"| {seed} | {angles[0]:.0e} | {angles[1]:.0e} | {wall:.2f} | {processor:.2f} | "
            f"{result.statistics['concepts']} |",
            flush=True,
        )


def print_large() -> None:
    """Five thousand terms of 32 inputs at once."""
    names = [f"x{i}" for i in range(32)]
    truth = cf.parse("x3*x17*x29 - 0.7*x5**2*x8 + 1.3*sin(x11)", names=names)
    print(
        "| seed | terms | angle | seconds | processor | peak memory, MB | answer "
        "|\n|---|---|---|---|---|---|---|"
    )
    rows: list[tuple[float, float, float]] = []
    for seed in SEEDS:
        rng = np.random.default_rng([2024, seed])
        points = rng.normal(size=(1000, 32))
        # A little of every input, so that none can be left out beforehand.
        gradients = truth.gradient(points) + 1e-9 * rng.normal(size=(1000, 32))
        field = GradientField.from_arrays(points, gradients, names=names)
        result, wall, processor = search(field, seed, TermSearch(stages=(5000,), n_points=1000))
        best = result.front.best
        assert best is not None
        angle = worst_angle(best.expression, truth, rng.normal(size=(N_HELD_OUT, 32)), np.ones(32))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sizes = result.statistics["library_sizes"]
        print(
            f"| {seed} | {sizes} | {angle:.0e} | {wall:.1f} | {processor:.1f} | {memory:.0f} "
            f"| `{best.expression}` |",
            flush=True,
        )
        rows.append((angle, processor, memory))
    found = sum(row[0] < 1e-6 for row in rows)
    print(
        f"summary: found {found} of {len(rows)}, at most {max(row[1] for row in rows):.1f} "
        f"processor seconds "
        f"and {max(row[2] for row in rows):.0f} MB"
    )


def main() -> None:
    """Print the parts asked for, or all."""
    parts = sys.argv[1:] or ["targets", "units", "latents", "large"]
    if "targets" in parts:
        print_targets(list(TARGETS), [1.0])
    if "units" in parts:
        print_targets(["pend", "expo"], [1000.0, 0.001])
    if "latents" in parts:
        print_latents()
    if "large" in parts:
        print_large()


if __name__ == "__main__":
    main()
