"""How much noise the formulas need that would be laws without a bound on it, from noisy pairs of
InvariantBench: ``python bench/scripts/noise_of_laws.py kepler cubic``; all systems by default.

For each system and kind, true or false: how many there are, the noise that they need (in per cent
of the inputs' spreads, least to most), and how many times what the others leave room for.
"""

import argparse
from math import sqrt

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.tangent_space import robust_spread
from closedform.reading.laws.finding import MOST_COMPLEX, SUMS_SHARE
from closedform.reading.laws.law_search import LawSearch
from closedform.reading.laws.motion_evidence import MOST_PAIRS
from closedform.reading.laws.motions import (
    INDEPENDENT,
    Orbits,
    beyond,
    explained_share,
    unit_gradients,
)
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.space import SearchSpace
from closedform_bench.invariants.motion_track import N_PAIRS, noisy_pairs
from closedform_bench.invariants.system import System
from closedform_bench.invariants.system_catalogue import SYSTEMS


def is_kept(concept: Expression, system: System, orbits: Orbits) -> bool:
    """Whether a formula is a function of the invariants, up to what counts as the same law."""
    known = [unit_gradients(one, orbits.points, orbits.scale) for one in system.conserved()]
    left = beyond(unit_gradients(concept, orbits.points, orbits.scale), known)
    return float(np.median(np.linalg.norm(left, axis=1))) <= INDEPENDENT


def measure(system: System, noise: float, seed: int) -> None:
    """Search as `conserved` does, and print both kinds."""
    pairs = noisy_pairs(system, noise, seed, N_PAIRS)
    rng = np.random.default_rng(seed)
    some = pairs[rng.permutation(len(pairs))[:MOST_PAIRS]]
    seen, held = Orbits(some, system.inputs, robust_spread(pairs[:, 0])).split(rng)
    clock = Budget(seconds=60.0).start()
    search = LawSearch(seen, held, SearchSpace(max_complexity=MOST_COMPLEX), rng)
    search.run(len(system.inputs) - 1, lambda: clock.used >= SUMS_SHARE)
    needed = {concept: held.needed_noise(concept) for concept in search.pool}
    rows: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for concept, one in search.pool.items():
        if one.is_law:
            own = needed[concept]
            over = 1 / sqrt(max(explained_share(own, needed.values()), 1e-12))
            rows[is_kept(concept, system, held)].append((100 * sqrt(own.variance), over))
    for kind, found in rows.items():
        if found:
            noises, over = np.array(found).T
            print(
                f"{system.name}: {len(found)} {'true' if kind else 'false'}, "
                f"{noises.min():.2f} to {noises.max():.2f}%, "
                f"{over.min():.2f} to {over.max():.2f} times",
                flush=True,
            )


def main() -> None:
    """Measure the systems that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    with processor_seconds():
        for name in words.systems:
            measure(SYSTEMS[name], words.noise, words.seed)


if __name__ == "__main__":
    main()
