"""What the engine `evolution` finds and how fast it is.

    python bench/scripts/search_evolution.py targets --seconds 12 --seeds 5
    python bench/scripts/search_evolution.py scale | throughput | memory | repeat | identity

Times are those of one core: processor seconds of this process, so that what else runs on the
machine does not decide; with ``--wall`` they are seconds of the clock. The truth's gradients at
training points are all that a search gets; an answer is chosen by its training misalignment and
counts if max(1 - cos^2) at 2,000 fresh points is below 1e-6.
"""

import argparse
import hashlib
import multiprocessing
import pickle
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from closedform.basics.progress import Silent
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, Clock
from closedform.searching.engine import SearchResult, get_engine
from closedform.searching.evolution.evolution_engine import Evolution
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace
from closedform_bench.speed.evolution_part import throughput as against_kernel


@dataclass(frozen=True)
class Target:
    """A truth, its inputs and how they are drawn: uniformly within a limit, or normally."""

    truth: str
    names: tuple[str, ...]
    limit: float | None = None

    def field(self, seed: int, n_points: int, units: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Points and unit gradients, the first input multiplied by ``units``."""
        rng = np.random.default_rng(seed)
        shape = (n_points, len(self.names))
        points = (
            rng.normal(size=shape)
            if self.limit is None
            else rng.uniform(-self.limit, self.limit, shape)
        )
        gradients = parse(self.truth, names=list(self.names)).gradient(points)
        points[:, 0] *= units
        gradients[:, 0] /= units
        return points, gradients


def _matrix(size: int) -> tuple[str, ...]:
    return tuple(f"a{i}{j}" for i in range(1, size + 1) for j in range(1, size + 1))


TARGETS = {
    "det2": Target("a11*a22 - a12*a21", _matrix(2)),
    "EB": Target("e1*b1 + e2*b2 + e3*b3", ("e1", "e2", "e3", "b1", "b2", "b3")),
    "mink": Target("t**2 - x**2 - y**2 - z**2", ("t", "x", "y", "z")),
    "pend": Target("sin(x) + v**2/2", ("x", "v"), 3.0),
    "expo": Target("x**2/2 + v**2/2 + exp(x + 1)", ("x", "v"), 2.0),
    "off3": Target("a12*a21 + a23*a32 + a13*a31", _matrix(3)),
    "angmom": Target("x*w - y*v", ("x", "y", "v", "w"), 3.0),
    "inv2": Target("a11*a22 + a11*a33 + a22*a33 - a12*a21 - a13*a31 - a23*a32", _matrix(3)),
    "det3": Target(
        "a11*(a22*a33 - a23*a32) - a12*(a21*a33 - a23*a31) + a13*(a21*a32 - a22*a31)", _matrix(3)
    ),
    "eb16": Target("a12*a34 + a13*a42 + a14*a23", _matrix(4)),
}


class CpuBudget(Budget):
    """A budget whose seconds are those of the processor."""

    def start(self) -> Clock:
        """Begin to count."""
        return CpuClock(self, time.process_time())


class CpuClock(Clock):
    """Counts processor seconds."""

    @property
    def seconds(self) -> float:
        """Processor time since the start."""
        return time.process_time() - self.started


def search(
    field: GradientField, seed: int, budget: Budget, engine: Evolution | None = None
) -> SearchResult:
    """One search."""
    return (engine or Evolution()).search(
        field, SearchSpace(), budget, np.random.default_rng(seed), Silent()
    )


def choose(front: Front) -> Candidate:
    """The simplest candidate whose training misalignment is the lowest or as good as zero."""
    assert front.best is not None
    limit = max(1e-9, 1.05 * front.best.misalignment)
    return next(candidate for candidate in front if candidate.misalignment <= limit)


def held_out(candidate: Candidate, target: Target, units: float = 1.0) -> float:
    """max(1 - cos^2) at fresh points, in units in which the inputs are alike."""
    points, truth = target.field(999_999, 2000, units)
    with np.errstate(all="ignore"):
        found = candidate.expression.gradient(points)
        found[:, 0] *= units
        truth[:, 0] *= units
        cosine = (found * truth).sum(1) ** 2 / ((found**2).sum(1) * (truth**2).sum(1))
    return float(np.where(np.isfinite(cosine), 1 - cosine, 1.0).max())


def try_target(name: str, seed: int, options: argparse.Namespace, units: float = 1.0) -> bool:
    """Search once and print a line."""
    points, gradients = TARGETS[name].field(seed, options.points, units)
    field = GradientField.from_arrays(points, gradients, names=TARGETS[name].names)
    budget = (Budget if options.wall else CpuBudget)(seconds=options.seconds)
    wall = time.perf_counter()
    result = search(field, seed, budget)
    wall = time.perf_counter() - wall
    chosen = choose(result.front)
    error = held_out(chosen, TARGETS[name], units)
    numbers = result.statistics
    print(
        f"{name:7s}{'' if units == 1 else f' x {units:g}'} seed {seed}: "
        f"{'found' if error < 1e-6 else 'MISSED'}"
        f"  held-out {error:.1e}"
        f"  complexity {chosen.complexity}  best at {numbers['seconds_to_best']:.2f} s, "
        f"ended at {numbers['seconds']:.2f} s"
        f" (clock {wall:.1f} s), {numbers['evaluations']} evaluations, {numbers['restarts']} "
        f"restarts  {chosen.expression}",
        flush=True,
    )
    return error < 1e-6


def targets(options: argparse.Namespace) -> None:
    """The ten clean targets."""
    names = options.names.split(",") if options.names else list(TARGETS)
    found = {
        name: [try_target(name, options.first_seed + s, options) for s in range(options.seeds)]
        for name in names
    }
    for name, results in found.items():
        print(f"{name:7s} {sum(results)} of {len(results)}")
    print(
        f"summary: evolution found {sum(map(sum, found.values()))} of {len(names) * options.seeds}"
    )


def scale(options: argparse.Namespace) -> None:
    """The two-input targets with their first input in other units."""
    results = [
        try_target(name, options.first_seed + s, options, units)
        for name in ("pend", "expo")
        for units in (1.0, 1000.0, 0.001)
        for s in range(options.seeds)
    ]
    print(
        f"summary: evolution found {sum(results)} of {len(results)} with the first input "
        f"times 1, 1000 and 1/1000"
    )


def throughput(options: argparse.Namespace) -> None:
    """Evaluations per second against the bare kernel on the same batches in the same run."""
    least: dict[float, float] = {}
    for fitted in (0.0, Evolution().fitted):
        for name in ("angmom", "inv2", "det3", "eb16"):
            points, gradients = TARGETS[name].field(options.first_seed, options.points)
            field = GradientField.from_arrays(points, gradients, names=TARGETS[name].names)
            engine = Evolution(fitted=fitted, settle=10**9)
            search(field, 0, Budget(evaluations=3000), engine)
            rate, bare = against_kernel(field, engine, 60_000)
            least[fitted] = min(least.get(fitted, np.inf), rate / bare)
            print(
                f"{name:7s} fitted {fitted:4.2f}: {rate:8.0f} evaluations/s, bare kernel "
                f"{bare:8.0f}, ratio {rate / bare:.2f}"
            )
    print(
        "summary: least ratio "
        + ", ".join(f"{ratio:.2f} with fitting {fitted:g}" for fitted, ratio in least.items())
    )


def resident() -> float:
    """Memory of this process in MB."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def memory(options: argparse.Namespace) -> None:
    """Memory over one long search that never ends by itself."""
    rng = np.random.default_rng(0)
    field = GradientField.from_arrays(rng.normal(size=(1000, 6)), rng.normal(size=(1000, 6)))
    engine = Evolution(settle=10**9)
    search(field, 0, Budget(evaluations=20_000), engine)

    class Watch:
        def __init__(self) -> None:
            self.start, self.next, self.readings = time.perf_counter(), 0.0, []

        def show(self, snapshot: Any) -> None:
            passed = time.perf_counter() - self.start
            if passed >= self.next:
                self.next = passed + options.seconds / 10
                self.readings.append(resident())
                print(f"{passed:6.0f} s  {self.readings[-1]:7.1f} MB", flush=True)

        def close(self) -> None:
            pass

    watch = Watch()
    engine.search(field, SearchSpace(), Budget(seconds=options.seconds), rng, watch)
    print(f"summary: growth {resident() - watch.readings[0]:.1f} MB")


def repeat(options: argparse.Namespace) -> None:
    """Many short searches in one process."""
    before = 0.0
    spaces = [
        SearchSpace(),
        SearchSpace(operators=("add", "mul")),
        SearchSpace(operators=("sin", "sub", "div"), max_complexity=12),
    ]
    for number in range(options.searches):
        target = list(TARGETS.values())[number % len(TARGETS)]
        points, gradients = target.field(number, 300)
        field = GradientField.from_arrays(points, gradients, names=target.names)
        engine = Evolution(population=200 + 10 * (number % 7), islands=1 + number % 3)
        engine.search(
            field,
            spaces[number % 3],
            Budget(evaluations=2000),
            np.random.default_rng(number),
            Silent(),
        )
        if number == 20:
            before = resident()
    print(
        f"summary: {options.searches} searches, memory grew {resident() - before:.1f} MB "
        f"after the first 20"
    )


def fingerprint(packed: bytes) -> str:
    """Search with a pickled engine and digest the front."""
    engine, name, evaluations, noise = pickle.loads(packed)
    points, gradients = TARGETS[name].field(5, 1000)
    gradients += (
        noise
        * np.random.default_rng(6).normal(size=gradients.shape)
        * np.linalg.norm(gradients, axis=1)[:, None]
    )
    result = search(
        GradientField.from_arrays(points, gradients), 5, Budget(evaluations=evaluations), engine
    )
    text = "\n".join(f"{c.complexity} {c.misalignment.hex()} {c.expression}" for c in result.front)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def identity(options: argparse.Namespace) -> None:
    """The same seed and evaluation budget in this process, twice, and by pools of 1, 2 and 4
    workers.
    """
    jobs = [
        ("evolution", "det3", 30_000, 0.0), ("evolution", "expo", 30_000, 0.02),
        ("terms", "expo", 600, 0.02),
        ("auto", "pend", 2500, 0.02), ("auto", "inv2", 2500, 0.02), ("auto", "expo", 2500, 0.0),
    ]  # fmt: skip
    packed = [pickle.dumps((get_engine(engine), *rest)) for engine, *rest in jobs]
    fronts = [[fingerprint(job) for job in packed] for _ in range(2)]
    for workers in (1, 2, 4):
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            fronts.append(pool.map(fingerprint, packed, chunksize=1))
    same = [len(set(column)) == 1 for column in zip(*fronts, strict=True)]
    for job, column, is_same in zip(jobs, zip(*fronts, strict=True), same, strict=True):
        print(
            f"{job[0]:9s} {job[1]:5s} noise {job[3]:4.2f}: "
            f"{'identical' if is_same else 'DIFFERENT'} {column}"
        )
    print(
        f"summary: {sum(same)} of {len(jobs)} fronts bit-identical twice in one process and "
        f"with 1, 2 and 4 workers, pickled"
    )


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {f.__name__: f for f in (targets, scale, throughput, memory, repeat, identity)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--names")
    parser.add_argument("--wall", action="store_true")
    options = parser.parse_args()
    if options.part in ("targets", "scale"):
        points, gradients = TARGETS["pend"].field(0, 300)
        search(GradientField.from_arrays(points, gradients), 0, Budget(evaluations=3000))
    parts[options.part](options)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
