"""Front: the best candidate at each complexity, none of which a simpler one matches, and beside
them plain ones that fit nearly as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closedform.expressions.complexity import fitted_positions
from closedform.expressions.expression import Expression
from closedform.field.alignment.tolerances import ROUNDING

PLAIN = 2.0
"""How many times worse than a simpler candidate one with fewer fitted constants may be: those of
the other follow a network's error by about as much.
"""


MOST_OTHERS = 40
"""Candidates beside the front that are kept for who knows more than directions."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expression that a search has judged.

    Attributes
    ----------
    expression : Expression
        In the user's coordinates.
    misalignment : float
        On the points that the search saw.
    complexity : int
    engine : str
        Which engine found it.
    left : float, optional
        The share of the latent's variance that a smooth function of it leaves over, if an engine
        proposed it by values.
    """

    expression: Expression
    misalignment: float
    complexity: int
    engine: str
    left: float | None = None

    @property
    def n_fitted(self) -> int:
        """How many of its numbers are fitted rather than plain."""
        return len(fitted_positions(self.expression.tree))


@dataclass(frozen=True, slots=True)
class Front:
    """Candidates in order of complexity, each better than all simpler ones, or plainer than those
    that are better.

    Attributes
    ----------
    candidates : tuple of Candidate
    others : tuple of Candidate
        The same by values, and what comes nearest to being on the front: where a network's
        gradients are rough, its values prefer one of these.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> good, bad = (
    ...     Candidate(parse(text), m, c, "terms")
    ...     for text, m, c in (("x*y", 0.1, 3), ("x + 1", 0.2, 5))
    ... )
    >>> [str(candidate.expression) for candidate in Front.of([bad, good])]
    ['x*y']
    """

    candidates: tuple[Candidate, ...] = ()
    others: tuple[Candidate, ...] = ()

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> "Front":
        """Keep what is not matched by something simpler; ties go to the shorter text, then to the
        one that comes first.
        """
        every = list(candidates)
        kept, near = _undominated([(one.misalignment, one) for one in every])
        valued, _ = _undominated([(one.left, one) for one in every if one.left is not None])
        others = dict.fromkeys([*valued, *near[:MOST_OTHERS]])
        return cls(tuple(kept), tuple(one for one in others if one not in kept))

    def merge(self, other: "Front") -> "Front":
        """The front of both."""
        return Front.of(dict.fromkeys([*self.all, *other.all]))

    @property
    def all(self) -> tuple[Candidate, ...]:
        """The front and what is near it."""
        return self.candidates + self.others

    @property
    def best(self) -> Candidate | None:
        """The candidate of lowest misalignment."""
        return min(self.candidates, key=lambda each: each.misalignment, default=None)

    @property
    def lowest(self) -> float:
        """The lowest misalignment; 1 if there is no candidate."""
        return min((each.misalignment for each in self.candidates), default=1.0)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, index: int) -> Candidate:
        return self.candidates[index]


def _undominated(
    judged: Sequence[tuple[float, Candidate]],
) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates, given with what they leave over, that nothing simpler matches; and others, those
    that come nearest first.
    """

    def order(pair: tuple[float, Candidate]) -> tuple[int, float, int, str]:
        text = str(pair[1].expression)
        return pair[1].complexity, max(pair[0], ROUNDING), len(text), text

    kept: list[Candidate] = []
    near: dict[Candidate, float] = {}
    # The least that is left so far with at most so many fitted constants.
    lowest: dict[int, float] = {}
    for left, candidate in sorted(judged, key=order):
        value, count = max(left, ROUNDING), candidate.n_fitted
        if value >= PLAIN * min(lowest.values(), default=np.inf):
            continue
        if value >= min((low for n, low in lowest.items() if n <= count), default=np.inf):
            near.setdefault(candidate, value / max(min(lowest.values()), ROUNDING))
        else:
            kept.append(candidate)
            lowest[count] = left
    return kept, sorted(near, key=near.__getitem__)
