"""Baselines in the same table: direct symbolic regression of latents, and implicit sparse
regression on pairs.
"""

from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.searching.space import SearchSpace
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.fields import N_POINTS
from closedform_bench.invariants.implicit_regression import N_PAIRS, regress_implicitly
from closedform_bench.invariants.independence import FUNCTION, outside
from closedform_bench.invariants.laws import LAW, change_in_pairs
from closedform_bench.invariants.motion_track import noisy_pairs
from closedform_bench.invariants.outcome import Row, score_claims
from closedform_bench.invariants.system import System
from closedform_bench.paper.direct_regression import regress


def read_directly(system: System, budget: float, seed: int) -> Row:
    """Regress latents on the inputs: mixtures of distorted invariants, as many as there are
    invariants.

    Direct regression gives no verdict, so it is taken to know which formulas of its fronts are
    right: what it recovers is the most that it could, and nothing is false.
    """
    rng = np.random.default_rng([seed, sum(system.name.encode())])
    points = system.points(N_POINTS, rng)
    latents = mixed_latents(system, points, rng)
    seconds = budget / latents.shape[1]
    space = SearchSpace()
    front = [
        formula
        for column in latents.T
        for formula in regress(
            points, column, system.inputs, space, seconds=max(seconds, 1.0), seed=seed
        )
    ]
    shares = outside(front, system.conserved(), points[:500], system.constraints)
    right = tuple(formula for formula, share in zip(front, shares, strict=True) if share < FUNCTION)
    return score_claims(system, Claims(right, (), "none", latents.shape[1], budget), points, seed)


def mixed_latents(system: System, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Latents that determine the invariants: two times a mixture and a monotone distortion of their
    ranks.

    Returns
    -------
    ndarray, shape (n_points, n_invariants)
    """
    columns = [truth(points) for truth in system.truths()]
    values = np.column_stack(
        [(np.argsort(np.argsort(column)) / len(column) - 0.5) * 4 for column in columns]
    )
    for _ in range(2):
        values = values @ np.linalg.qr(rng.normal(size=(values.shape[1], values.shape[1])))[0]
        values = values + np.tanh(2 * values)
    return values


def read_implicitly(system: System, seed: int, noise: float = 0.0) -> Row:
    """Implicit sparse regression on pairs; claims that fail on other pairs are withdrawn."""
    pairs = noisy_pairs(system, noise, seed, 2 * N_PAIRS)
    claims = regress_implicitly(pairs[:N_PAIRS], system.inputs)
    laws = tuple(
        concept for concept in claims.verified if change_in_pairs(concept, pairs[N_PAIRS:]) <= LAW
    )
    return score_claims(system, replace(claims, verified=laws), pairs[:, 0], seed)
