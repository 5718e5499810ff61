"""The algebra that symmetries form: commutators, and its name where it is a known small one."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.reading.symmetries.affine import commutator
from closedform.reading.symmetries.tolerances import CLOSES

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
    derived = np.linalg.matrix_rank(own.reshape(-1, count), tol=_ZERO * np.abs(own).max())
    if derived == count - centre and _centre_size(own) == centre:
        part = _semisimple_name(positive, negative)
        return f"{part} + R{'' if centre == 1 else f'^{centre}'}" if part else ""
    return ""


def _centre_size(own: FloatArray) -> int:
    flat = own.reshape(len(own), -1)
    return len(own) - int(np.linalg.matrix_rank(flat, tol=_ZERO * np.abs(own).max()))


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
