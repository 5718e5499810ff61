"""Front: the best candidate at each complexity, none of which a simpler one matches."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from closedform.alignment.tolerances import ROUNDING
from closedform.expressions.expression import Expression


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
    """

    expression: Expression
    misalignment: float
    complexity: int
    engine: str


@dataclass(frozen=True, slots=True)
class Front:
    """Candidates in order of complexity, each better than all simpler ones.

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

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> "Front":
        """Keep what is not matched by something simpler; ties go to the shorter text, then to the
        one that comes first.
        """

        def order(candidate: Candidate) -> tuple[int, float, int, str]:
            text = str(candidate.expression)
            return candidate.complexity, max(candidate.misalignment, ROUNDING), len(text), text

        kept: list[Candidate] = []
        for candidate in sorted(candidates, key=order):
            if not kept or max(candidate.misalignment, ROUNDING) < kept[-1].misalignment:
                kept.append(candidate)
        return cls(tuple(kept))

    def merge(self, other: "Front") -> "Front":
        """The front of both."""
        return Front.of([*self.candidates, *other.candidates])

    @property
    def best(self) -> Candidate | None:
        """The candidate of lowest misalignment."""
        return self.candidates[-1] if self.candidates else None

    @property
    def lowest(self) -> float:
        """The lowest misalignment; 1 if there is no candidate."""
        return self.candidates[-1].misalignment if self.candidates else 1.0

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, index: int) -> Candidate:
        return self.candidates[index]
