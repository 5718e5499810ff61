"""Find all invariants of systems without knowing how many: ``python
bench/scripts/discover_systems.py [--system NAME ...]``.

Three systems with three, two and one invariants; the answer is right if all are found and nothing
else.
"""

import argparse
import time

import numpy as np
import torch
from several_systems import PHASE_SPACE, SYSTEMS, System

import closedform as cf
from closedform.arrays import FloatArray
from closedform_bench.invariants.independence import FUNCTION, count_independent, outside

PLACES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


def antisymmetric(n: int, rng: np.random.Generator) -> FloatArray:
    """Antisymmetric 4x4 matrices and the same after a rotation, as their six upper entries."""
    entries = rng.uniform(-1, 1, (n, 6))
    matrices = np.zeros((n, 4, 4))
    for column, (row, other) in enumerate(PLACES):
        matrices[:, row, other], matrices[:, other, row] = entries[:, column], -entries[:, column]
    rotation = np.linalg.qr(rng.normal(size=(n, 4, 4)))[0]
    rotation[:, :, 0] *= np.sign(np.linalg.det(rotation))[:, None]
    after = rotation @ matrices @ np.swapaxes(rotation, 1, 2)
    return np.stack(
        [entries, np.stack([after[:, row, other] for row, other in PLACES], axis=1)], axis=1
    )


def quadratic_forms(n: int, rng: np.random.Generator) -> FloatArray:
    """Binary quadratic forms a x^2 + b x y + c y^2 and the same after a linear map of determinant
    1.
    """
    a, b, c = rng.uniform(-1, 1, (3, n))
    turn, other = rng.uniform(0, 2 * np.pi, (2, n))
    stretch = np.exp(rng.uniform(-0.7, 0.7, n))
    maps = _turns(turn) @ (np.stack([stretch, 1 / stretch], axis=1)[:, :, None] * _turns(other))
    matrices = np.stack([np.stack([a, b / 2], axis=1), np.stack([b / 2, c], axis=1)], axis=1)
    after = np.swapaxes(maps, 1, 2) @ matrices @ maps
    return np.stack(
        [
            np.stack([a, b, c], axis=1),
            np.stack([after[:, 0, 0], 2 * after[:, 0, 1], after[:, 1, 1]], axis=1),
        ],
        axis=1,
    )


def _turns(angle: FloatArray) -> FloatArray:
    return np.moveaxis(
        np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]), 2, 0
    )


ROTATIONS = ("a12*a34 - a13*a24 + a14*a23", "a12**2 + a13**2 + a14**2 + a23**2 + a24**2 + a34**2")
DISCOVERED = {
    "oscillator": System(
        SYSTEMS["oscillator"].sampler, PHASE_SPACE, SYSTEMS["oscillator"].invariants, 0
    ),
    "antisymmetric": System(
        antisymmetric, ("a12", "a13", "a14", "a23", "a24", "a34"), ROTATIONS, 0
    ),
    "quadratic": System(quadratic_forms, ("a", "b", "c"), ("b**2 - 4*a*c",), 0),
}


def main() -> None:
    """Read the words on the command line, and discover."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", nargs="*", choices=tuple(DISCOVERED), default=list(DISCOVERED))
    parser.add_argument("--how", choices=("grow", "hold"), default="grow")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=30.0)
    words = parser.parse_args()
    torch.set_num_threads(1)
    for name in words.system:
        system = DISCOVERED[name]
        start = time.perf_counter()
        found = cf.discover(
            system.sampler, names=system.inputs, how=words.how, budget=words.budget, rng=words.seed
        )
        points = system.sampler(500, np.random.default_rng(1))[:, 0]
        truths = [cf.parse(text, names=list(system.inputs)) for text in system.invariants]
        concepts = list(found.concepts)
        right = [
            c
            for c, share in zip(concepts, outside(concepts, truths, points), strict=True)
            if share < FUNCTION
        ]
        print(
            f"{name}, {words.how}: {count_independent(right, points)} of {len(truths)}, "
            f"{len(concepts) - len(right)} false, "
            f"complete {found.is_complete}, ranks {[(r.latents, r.rank) for r in found.rounds]}, "
            f"{time.perf_counter() - start:.0f} s: {found.sentence} "
            f"{'; '.join(map(str, concepts))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
