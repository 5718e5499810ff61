"""The term search against the calls of LAPACK that it needs."""

from pathlib import Path

import numpy as np

from closedform.basics.progress import Silent
from closedform.basics.threads import single_threaded
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult
from closedform.searching.space import SearchSpace
from closedform.searching.terms.term_engine import TermSearch
from closedform_bench.speed.known_fields import FIELDS, MATRICES
from closedform_bench.speed.linear_algebra import count_problems, recorded, repeat
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.stacks import StackSampler, innermost
from closedform_bench.speed.tables import table
from closedform_bench.speed.timing import in_turn

EVALUATIONS = 1000
MOST_NAMED = 6
"""Functions of which the page says that time goes there."""


@single_threaded
def measure(effort: Effort) -> Numbers:
    """Search, and repeat what the search asked of LAPACK."""
    fields = {"pendulum": FIELDS["pendulum"].plain_field()}
    if not effort.is_short:
        fields |= {
            "E.B": FIELDS["E.B"].plain_field(),
            "second invariant": MATRICES["second invariant"].plain_field(),
            "pendulum, 2% noise": FIELDS["pendulum"].plain_field(noise=0.02),
            "E.B, 2% noise": FIELDS["E.B"].plain_field(noise=0.02),
        }
    rows = []
    for name, field in fields.items():
        with recorded() as calls:
            result = _search(field)
        seconds = in_turn(
            {"search": lambda field=field: _search(field), "lapack": lambda: repeat(calls)},
            1 if effort.is_short else 2,
        )
        problems, largest = count_problems(calls)
        rows.append(
            {
                "field": name,
                **seconds,
                "problems": problems,
                "largest": largest,
                "evaluations": result.statistics["evaluations"],
            }
        )
    with StackSampler() as sampler:
        for field in fields.values():
            _search(field)
    return {"rows": rows, "innermost": innermost(sampler.stacks)[:MOST_NAMED]}


def _search(field: GradientField) -> SearchResult:
    budget = Budget(evaluations=EVALUATIONS)
    return TermSearch().search(field, SearchSpace(), budget, np.random.default_rng(0), Silent())


def show(numbers: Numbers, folder: Path) -> str:
    """A sentence, a table, and where the rest goes."""
    rows = [
        (
            row["field"],
            f"{row['evaluations']:,}",
            f"{1e3 * row['search']:,.0f}",
            f"{row['problems']:,}",
            f"{row['largest']:,}",
            f"{1e3 * row['lapack']:,.0f}",
            f"{row['search'] / row['lapack']:.1f}",
        )
        for row in numbers["rows"]
    ]
    rest = ", ".join(f"`{name}` {share:.0%}" for name, share in numbers["innermost"])
    head = (
        "field", "sums fitted", "search, ms", "eigenproblems", "largest", "LAPACK alone, ms",
        "ratio",
    )  # fmt: skip
    return (
        "A sum of terms gets its coefficients from generalised eigenproblems. All problems that a "
        f"search (of at most {EVALUATIONS:,} sums) hands to LAPACK are handed to it once more, "
        "alone.\n\n"
        + table(head, rows)
        + f"\nWhere the time of these searches goes, by innermost function: {rest}.\n"
    )


TERMS = Part("terms", "The term search against LAPACK", measure, show)
