"""The answer: generators, each with how broken it is, and the algebra that they form."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.expressions.expression import Expression
from closedform.reading.symmetries.affine import (
    LARGEST_ERROR,
    Breaking,
    commutator,
    components,
    field_text,
    sum_text,
)

CLOSES = 0.05
"""Share of a commutator that may lie outside the generators' span: fitted coefficients are known to
a few per cent."""


_ZERO = 1e-6  # of structure constants, eigenvalues and coefficients, relative to the largest


@dataclass(frozen=True, slots=True, eq=False)
class Algebra:
    """Translations and further generators with their commutators.

    Attributes
    ----------
    constants : ndarray, shape (n, n, n)
        ``[v_a, v_b] = sum_c constants[a, b, c] v_c`` up to multiples of translations; translations
        come first.
    closes : bool
        Whether all commutators are such sums.
    name : str
        Empty where it has none here.
    """

    constants: FloatArray
    closes: bool
    name: str


def algebra_of(translations: FloatArray, fields: FloatArray) -> Algebra:
    """Of fields (n, n_inputs, n_inputs + 1) in the user's inputs."""
    whole = np.concatenate([translations, fields])
    constants, closes = _structure(whole, translations)
    t = len(translations)
    name = _name(constants, t, fields) if closes and len(whole) else ""
    return Algebra(frozen(constants), closes, name)


def _structure(whole: FloatArray, translations: FloatArray) -> tuple[FloatArray, bool]:
    count, n_inputs = len(whole), whole.shape[1]
    inputs = np.eye(n_inputs, n_inputs + 1)
    multiples = [np.outer(shift[:, -1], row) for shift in translations for row in inputs]
    basis = np.array([each.ravel() for each in (*whole, *multiples)]).T
    constants, closes = np.zeros((count, count, count)), True
    for a in range(count):
        for b in range(a):
            bracket = commutator(whole[a], whole[b]).ravel()
            solved = np.linalg.lstsq(basis, bracket, rcond=None)[0]
            left = np.linalg.norm(bracket - basis @ solved)
            size = np.linalg.norm(whole[a]) * np.linalg.norm(whole[b])
            closes = closes and bool(left <= CLOSES * size)
            found = np.where(np.abs(solved[:count]) > _ZERO * size, solved[:count], 0.0)
            constants[a, b], constants[b, a] = found, -found
    return constants, closes


def _name(constants: FloatArray, t: int, fields: FloatArray) -> str:
    """The name of an algebra of t translations and some fields."""
    own = constants[t:, t:, t:]
    core = _core_name(own, fields)
    if t == 0:
        return core
    shifts = "translation" if t == 1 else f"{t} translations"
    if not len(fields):
        return shifts
    acting = constants[t:, :t, :t].reshape(len(fields), -1)
    is_faithful = np.linalg.matrix_rank(acting, tol=_ZERO) == len(fields)
    if is_faithful and core == f"so({t})":
        return f"se({t})"
    if is_faithful and core.startswith("so(") and _size_of(core) == t:
        return f"i{core}"
    return f"{core or f'an algebra of dimension {len(fields)}'} and {shifts}"


def _size_of(name: str) -> int:
    return sum(int(number) for number in name[3:-1].split(",")) if name.endswith(")") else 0


def _core_name(own: FloatArray, fields: FloatArray) -> str:
    count = len(fields)
    if count == 0:
        return ""
    if not np.abs(own).max() > 0:
        return _abelian_name(fields)
    killing = np.einsum("acd,bdc->ab", own, own)
    values = np.linalg.eigvalsh(killing)
    largest = float(np.abs(values).max())
    if largest == 0:
        return ""
    positive = int((values > _ZERO * largest).sum())
    negative = int((values < -_ZERO * largest).sum())
    centre = count - positive - negative
    if centre == 0:
        return _semisimple_name(positive, negative)
    # Semisimple apart from its centre: brackets span the one, and nothing moves the other.
    tables, tol = (own.reshape(-1, count), own.reshape(count, -1)), _ZERO * np.abs(own).max()
    part = _semisimple_name(positive, negative)
    if part and all(np.linalg.matrix_rank(one, tol=tol) == count - centre for one in tables):
        return f"{part} + R{'' if centre == 1 else f'^{centre}'}"
    return ""


_SEMISIMPLE = {
    (0, 3): "so(3)", (2, 1): "sl(2)", (0, 6): "so(4)", (3, 3): "so(1,3)", (4, 2): "sl(2) + sl(2)",
    (2, 4): "so(3) + sl(2)", (5, 3): "sl(3)", (0, 8): "su(3)", (6, 3): "sl(2) + sl(2) + sl(2)",
}  # fmt: skip
"""By the numbers of positive and negative squares of the Killing form, which tell these apart."""


def _semisimple_name(positive: int, negative: int) -> str:
    if (positive, negative) in _SEMISIMPLE:
        return _SEMISIMPLE[positive, negative]
    total = positive + negative
    size = round((1 + np.sqrt(1 + 8 * total)) / 2)
    if size * (size - 1) // 2 != total:
        return ""
    for first in range(size // 2 + 1):
        if first * (size - first) == positive:
            return f"so({size})" if first == 0 else f"so({first},{size - first})"
    return ""


def _abelian_name(fields: FloatArray) -> str:
    """Of fields that commute: by how one moves points, or as scalings."""
    linear = fields[:, :, :-1]
    diagonal = linear * np.eye(linear.shape[1])
    if np.abs(linear - diagonal).max() == 0:
        return "scaling" if len(fields) == 1 else f"{len(fields)} scalings"
    if len(fields) > 1:
        return f"R^{len(fields)}"
    values = np.linalg.eigvals(linear[0])
    largest = float(np.abs(values).max())
    if largest <= np.sqrt(_ZERO) * np.abs(linear[0]).max():
        return "shear"
    if np.abs(values.real).max() <= np.sqrt(_ZERO) * largest:
        return "so(2)"
    is_paired = np.allclose(np.sort(values.real), np.sort(-values.real), atol=1e-3 * largest)
    if np.abs(values.imag).max() <= np.sqrt(_ZERO) * largest and is_paired:
        return "so(1,1)"
    return "R"


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
