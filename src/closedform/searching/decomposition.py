"""Which inputs enter a concept through which combination, and how sure that is: data, and its
text.
"""

# A combination is made of combinations; as text the annotation can be resolved by what writes and
# reads files.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Combination:
    """A quantity and what it is made of.

    Attributes
    ----------
    formula : str
        In the user's inputs.
    inputs : tuple of str
        The inputs that occur.
    misalignment, low, high : float
        Of the partial gradient on what it is made of, with an interval of 95%; all 0 for an input
        itself.
    parts : tuple of Combination
        What it is made of; none for an input.
    """

    formula: str
    inputs: tuple[str, ...]
    misalignment: float
    low: float
    high: float
    parts: tuple[Combination, ...] = ()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The combinations through which a concept depends on its inputs.

    Attributes
    ----------
    combinations : tuple of Combination
        One if the whole formula was found so.
    unused : tuple of str
        Inputs that do not matter.
    unexplained : float
        Misalignment that no function of the combinations can explain.

    Examples
    --------
    >>> halves = tuple(Combination(name, (name,), 0.0, 0.0, 0.0) for name in ("x", "y"))
    >>> print(
    ...     Decomposition(
    ...         (Combination("x*y", ("x", "y"), 1e-6, 0.0, 2e-6, halves),), ("z",), 1e-6
    ...     ).text
    ... )
    The concept is a function of x*y alone.
      x*y: misalignment 1.0e-06 (0.0e+00 to 2.0e-06), of x and y
    It does not depend on z.
    """

    combinations: tuple[Combination, ...]
    unused: tuple[str, ...]
    unexplained: float

    @property
    def text(self) -> str:
        """The tree in words, a line for each combination."""
        named = _listed([combination.formula for combination in self.combinations])
        lines = [f"The concept is a function of {named} alone."]
        pending = [(combination, 1) for combination in reversed(self.combinations)]
        while pending:
            combination, depth = pending.pop()
            if combination.parts:
                lines.append("  " * depth + _line(combination))
            pending += [(part, depth + 1) for part in reversed(combination.parts)]
        if self.unused:
            lines.append(f"It does not depend on {_listed(self.unused)}.")
        return "\n".join(lines)


def _line(combination: Combination) -> str:
    interval = f"{combination.low:.1e} to {combination.high:.1e}"
    made_of = _listed([part.formula for part in combination.parts])
    return (
        f"{combination.formula}: misalignment {combination.misalignment:.1e} ({interval}), of "
        f"{made_of}"
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
