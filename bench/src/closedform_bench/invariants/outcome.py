"""What became of a system: the row of the table, and the summary that ``closedform bench --json``
prints.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.independence import FUNCTION, count_independent, outside
from closedform_bench.invariants.system import System

SCORED_POINTS = 500


class Row(TypedDict):
    """A system as ``--json`` prints it.

    ``found`` are the laws that are claimed, ``recovered`` how many independent invariants they
    determine, and ``false`` how many of them are no functions of what is conserved. ``unclaimed``
    are formulas that were read without being claimed, with the reason. In the track `network` there
    are besides ``changes`` of the verified concepts within held-out pairs, how badly the network
    carries each invariant (``carried``), and the ``cause`` of a miss.
    """

    name: str
    dim: int
    expected: list[str]
    found: list[str]
    recovered: int
    of: int
    false: int
    seconds: float
    seed: int
    rank: int
    verdict: str
    outside: list[float]
    unclaimed: list[dict[str, Any]]
    changes: NotRequired[list[float]]
    carried: NotRequired[list[float]]
    cause: NotRequired[str]


def score_claims(system: System, claims: Claims, points: FloatArray, seed: int) -> Row:
    """Compare what was claimed with what is conserved.

    Parameters
    ----------
    system : System
    claims : Claims
    points : ndarray, shape (n_points, n_inputs)
        Points of the system; the first 500 are used.
    seed : int
        Of the run, to be noted.
    """
    some, kept = points[:SCORED_POINTS], system.conserved()
    shares = outside(claims.verified, kept, some, system.constraints)
    right = [
        concept for concept, share in zip(claims.verified, shares, strict=True) if share < FUNCTION
    ]
    asked = outside(right, system.truths(), some, system.constraints)
    listed = [concept for concept, share in zip(right, asked, strict=True) if share < FUNCTION]
    others = outside([concept for concept, _ in claims.others], kept, some, system.constraints)
    return Row(
        name=system.name,
        dim=len(system.inputs),
        expected=list(system.invariants),
        found=[str(concept) for concept in claims.verified],
        recovered=min(count_independent(listed, some, system.constraints), len(system.invariants)),
        of=len(system.invariants),
        false=len(claims.verified) - len(right),
        seconds=round(claims.seconds, 2),
        seed=seed,
        rank=claims.rank,
        verdict=claims.verdict,
        outside=_short(shares),
        unclaimed=[
            {"concept": str(concept), "why": why, "outside": share}
            for (concept, why), share in zip(claims.others, _short(others), strict=True)
        ],
    )


def summary(suite: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The object that ``--json`` prints.

    Examples
    --------
    >>> summary("controls", [{"name": "noise", "recovered": 0, "of": 0, "false": 0}])["false_laws"]
    0
    """
    totals = {key: sum(int(row[key]) for row in rows) for key in ("recovered", "of", "false")}
    return {
        "suite": suite,
        "systems": [dict(row) for row in rows],
        "recovered": totals["recovered"],
        "of": totals["of"],
        "false_laws": totals["false"],
    }


def _short(values: FloatArray) -> list[float]:
    return [float(f"{value:.3g}") for value in np.clip(values, 0, 1)]
