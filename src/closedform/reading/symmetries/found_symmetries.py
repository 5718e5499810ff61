"""The answer: generators, each with its formula and how broken it is, and the algebra they form."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.reading.symmetries.affine import components, field_text, sum_text
from closedform.reading.symmetries.algebra import Algebra
from closedform.reading.symmetries.breaking import Breaking
from closedform.reading.symmetries.tolerances import LARGEST_ERROR


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """An affine vector field, and how far it is from being a symmetry.

    Attributes
    ----------
    matrix : ndarray, shape (n_inputs, n_inputs + 1)
        [A b] of the field A x + b, in the user's inputs.
    names : tuple of str
        The inputs.
    broken : Breaking
        How far it leads out of the level sets.
    groups : tuple of str
        The groups of inputs that it moves alike, where these were named.
    """

    matrix: FloatArray
    names: tuple[str, ...]
    broken: Breaking
    groups: tuple[str, ...] = ()

    @property
    def components(self) -> tuple[Expression, ...]:
        """The field's components as formulas, one for each input."""
        return components(self.matrix, self.names)

    @property
    def kind(self) -> str:
        """What it does: translation, rotation, boost, scaling, shear or affine."""
        linear = self.matrix[:, :-1]
        if not linear.any():
            return "translation"
        if (linear == -linear.T).all():
            return "rotation"
        if (linear == np.diag(np.diagonal(linear))).all():
            return "scaling"
        if (linear == linear.T).all() and not np.diagonal(linear).any():
            return "boost"
        return "shear" if not (linear @ linear).any() else "affine"

    @property
    def is_worth_telling(self) -> bool:
        """Whether it is nearly a symmetry, of few terms: at most two to each input."""
        is_short = int(np.count_nonzero(self.matrix)) <= 2 * len(self.names)
        return self.broken.degrees <= LARGEST_ERROR and is_short

    def __str__(self) -> str:
        return field_text(self.matrix, self.names)

    def __repr__(self) -> str:
        return f"<Generator: {self}, {self.broken}>"


@dataclass(frozen=True, slots=True, eq=False)
class Symmetries:
    """What a field does not see: the affine motions of its inputs that leave it alone.

    Make it with `closedform.symmetries`.

    Attributes
    ----------
    generators : tuple of Generator
        A basis: translations first, then what is left of the affine fields without the inputs along
        which nothing changes.
    n_translations : int
    algebra : Algebra
        Commutators and name.
    nearest : Generator or None
        Of the fields that are not symmetries, the least broken one.
    stated : tuple of Generator
        Those that were asked for, in their order.
    names : tuple of str
    notes : tuple of str
        What to know about the answer.
    box : ndarray, shape (2, n_inputs)
        Where most of the data lies, for pictures.
    n_seen, n_judged : int
        Points that generators were fitted to, and that they were judged on.
    seconds : float
    seed : int
    """

    generators: tuple[Generator, ...]
    n_translations: int
    algebra: Algebra
    nearest: Generator | None
    stated: tuple[Generator, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...]
    box: FloatArray
    n_seen: int
    n_judged: int
    seconds: float
    seed: int

    @property
    def dimension(self) -> int:
        """Independent generators."""
        return len(self.generators)

    @property
    def name(self) -> str:
        """The algebra's name; empty where it has none."""
        return self.algebra.name

    @property
    def commutators(self) -> tuple[str, ...]:
        """Those that do not vanish, such as ``[v1, v3] = v2``; v1 is the first generator."""
        lines, names = [], [f"v{place + 1}" for place in range(self.dimension)]
        for a in range(self.dimension):
            for b in range(a + 1, self.dimension):
                row = self.algebra.constants[a, b]
                if row.any():
                    said = sum_text([*row, 0.0], names, "{:.4g}".format)
                    lines.append(f"[v{a + 1}, v{b + 1}] = {said}")
        return tuple(lines)

    def summary(self) -> dict[str, Any]:
        """What ``closedform symmetries --json`` prints."""
        return {
            "dimension": self.dimension,
            "translations": self.n_translations,
            "algebra": self.name,
            "generators": [_row(each) for each in self.generators],
            "commutators": list(self.commutators),
            "nearest": None if self.nearest is None else _row(self.nearest),
            "stated": [_row(each) for each in self.stated],
            "names": list(self.names),
            "notes": list(self.notes),
            "points": {"seen": self.n_seen, "judged": self.n_judged},
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }

    def plot_flow(self, generator: int = 0, *, ax: Any = None) -> Any:
        """Draw the flow of a generator, for two inputs; returns the Axes."""
        from closedform.report.plots import plot_flow

        return plot_flow(self, generator, ax=ax)

    def _repr_html_(self) -> str:
        from closedform.report.plots import symmetries_html

        return symmetries_html(self)

    @property
    def headline(self) -> str:
        """The count and the name, in a sentence."""
        if not self.dimension:
            return "No affine symmetry."
        word = "symmetry" if self.dimension == 1 else "symmetries"
        return f"{self.dimension} {word}{f': {self.name}' if self.name else ''}."

    def __str__(self) -> str:
        lines = [self.headline]
        for place, one in enumerate(self.generators, start=1):
            lines.append(f"  v{place} = {one}   [{one.kind}, {one.broken}]")
            if one.groups:
                lines.append(f"    alike in {', '.join(one.groups)}")
        lines += [f"  {line}" for line in self.commutators]
        for one in self.stated:
            lines.append(f"asked for: {one}   [{one.kind}, {one.broken}{_where(one)}]")
        near = self.nearest
        if near is not None and near.is_worth_telling:
            lines.append(f"nearly: {near}   [{near.kind}, {near.broken}{_where(near)}]")
        return "\n".join([*lines, *self.notes])


def _where(one: Generator) -> str:
    broken = one.broken
    if broken.cause == "rounding":
        return ""
    place = ", ".join(
        f"{name} = {value:.2g}" for name, value in zip(one.names, broken.where, strict=True)
    )
    return f"; {broken.there:.2g} near {place}"


def _row(one: Generator) -> dict[str, Any]:
    where = dict(zip(one.names, one.broken.where, strict=True))
    return {
        "generator": str(one),
        "components": [str(each) for each in one.components],
        "kind": one.kind,
        "groups": list(one.groups),
        "broken": {**asdict(one.broken), "where": where},
    }
