"""A basis of few terms and plain numbers for the symmetries that were found.

A null space has no basis of its own. Brought into echelon form with the dearest terms as pivots
each vector holds few terms; several orders give several, and the cheapest independent ones are
kept. Numbers are made plain where the points that judge cannot tell.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from closedform.arrays import FloatArray
from closedform.expressions.tolerances import SIMPLE_DENOMINATOR
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.tolerances import AFFINE
from closedform.reading.symmetries.affine import Judge, LevelSets, ScaledInputs
from closedform.searching.terms.exact_sums import echelon

N_ORDERS = 24
"""Orders of the terms in which sparse generators are looked for: each gives a whole basis,
and the cheapest vectors of all are kept."""


ROUGH_PARTS, EXACT_PARTS = (0.03, 0.1, 0.2), (1e-4,)
"""Terms with a smaller share of a generator's largest are left out, in fields with errors and in
exact ones."""


_NEW = 1e-6  # share of a vector that must be left by those chosen before
_ZERO = 1e-9  # of a linear programme's numbers
_PREFERENCE = 0.1  # of a term: against those off the diagonal, and against parts that do not turn


def plain_translations(fields: FloatArray, inputs: ScaledInputs, judge: Judge) -> FloatArray:
    """Translations (n, n_inputs, n_inputs + 1) in the user's inputs, of few terms."""
    count = fields.shape[1]
    if not len(fields):
        return np.zeros((0, count, count + 1))
    shifts = np.stack([inputs.user(field)[:, -1] for field in fields]).T

    def field_of(vector: FloatArray) -> FloatArray:
        return np.column_stack([np.zeros((count, count)), vector])

    empty = np.zeros((count, 0))
    found = _sparse(shifts, empty, inputs.scale, lambda one: inputs.scaled(field_of(one)), judge)
    return np.stack([_with_sign(field_of(vector)) for vector in found])


def plain_fields(
    fields: FloatArray,
    translations: FloatArray,
    inputs: ScaledInputs,
    judge: Judge,
    strangers: FloatArray,
) -> FloatArray:
    """Affine fields (n, n_inputs, n_inputs + 1) in the user's inputs, each of few terms, that span
    the given ones up to multiples of translations.

    fields (n, n_inputs, n_inputs + 1): in scaled inputs.
    translations (t, n_inputs, n_inputs + 1): in the user's inputs, plain.
    strangers (n_inputs, n_inputs): 1 where two inputs are of different groups, else 0.
    """
    if not len(fields):
        return np.zeros((0, *translations.shape[1:]))
    reduced = Reduced.by(translations)
    scale = inputs.scale[reduced.kept]
    shape = (len(scale), len(scale) + 1)
    sizes = np.column_stack([scale[:, None] / scale, scale]).ravel()

    def on_reduced(several: FloatArray) -> FloatArray:
        rows = [reduced.project(inputs.user(field)).ravel() for field in several]
        return np.array(rows).reshape(len(rows), len(sizes)).T

    def in_scaled(vector: FloatArray) -> FloatArray:
        return inputs.scaled(reduced.section(vector.reshape(shape)))

    resting = vanishing_fields(judge.levels)
    found = _sparse(on_reduced(fields), on_reduced(resting), sizes, in_scaled, judge)
    lifted = [reduced.lift(vector.reshape(shape), inputs.scale, strangers) for vector in found]
    return np.stack([_with_sign(field) for field in lifted])


def _with_sign(field: FloatArray) -> FloatArray:
    """The field or its negative: x*d_y - y*d_x rather than y*d_x - x*d_y."""
    terms = field.T[field.T != 0]
    return -field + 0.0 if len(terms) and terms[0] < 0 else field + 0.0


def vanishing_fields(levels: LevelSets) -> FloatArray:
    """Affine fields that do not move the data, which lies in a plane."""
    # They may be added to any other, and make some of them sparse.
    factors = levels.factors
    values, vectors = np.linalg.eigh(factors.T @ factors / len(factors))
    still = vectors[:, values <= AFFINE**2 * values[-1]].T
    fields = np.einsum("ij,vk->ivjk", np.eye(levels.n_inputs), still)
    return fields.reshape(-1, levels.n_inputs, levels.n_inputs + 1)


def _sparse(
    columns: FloatArray,
    empty: FloatArray,
    sizes: FloatArray,
    in_scaled: Callable[[FloatArray], FloatArray],
    judge: Judge,
) -> list[FloatArray]:
    """The cheapest vectors that span the columns, up to empty ones, with plain numbers.

    columns (n_terms, n): a basis, in the user's units.
    empty (n_terms, m): what may be added to any of them.
    sizes (n_terms,): the coefficient of each term that moves the data by one spread.
    """
    nothing = _orthonormal(empty / sizes[:, None])
    own = columns / sizes[:, None]
    own = np.linalg.qr(own - nothing @ (nothing.T @ own))[0]
    space = np.concatenate([own, nothing], axis=1)
    is_exact = all(judge.mean(in_scaled(sizes * each)) <= PERFECT for each in own.T)
    chosen: list[FloatArray] = []
    directions = np.zeros((0, own.shape[1]))
    for vector in _candidates(space, EXACT_PARTS if is_exact else ROUGH_PARTS):
        inside = own.T @ vector
        left = inside - directions.T @ (directions @ inside)
        dense = in_scaled(sizes * (space @ (space.T @ vector)))
        is_new = np.linalg.norm(left) > (_NEW if is_exact else ROUGH_PARTS[-1])
        n_fewer = int((vector == 0).sum())
        if is_new and judge.is_no_worse(in_scaled(sizes * vector), dense, n_fewer):
            chosen.append(_plain(sizes * vector, in_scaled, judge))
            directions = np.concatenate([directions, left[None] / np.linalg.norm(left)])
    rest = np.linalg.svd(directions, full_matrices=True)[2][len(chosen) :]
    return [*chosen, *(_plain(sizes * (own @ each), in_scaled, judge) for each in rest)]


def _orthonormal(columns: FloatArray) -> FloatArray:
    """A basis of their span."""
    axes, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return axes[:, lengths > _NEW * lengths.max(initial=0.0)]


def _candidates(space: FloatArray, parts: Sequence[float]) -> list[FloatArray]:
    """Unit vectors of few terms in a space, or near to it, shortest first."""
    rng = np.random.default_rng(0)
    options: dict[tuple[int, ...], FloatArray] = {}
    for _ in range(N_ORDERS):
        for vector in echelon(space, rng.permutation(len(space)), parts[0]).T:
            for part in parts:
                kept = np.abs(vector) > part * np.abs(vector).max()
                support = tuple(np.flatnonzero(kept).tolist())
                if support not in options:
                    options[support] = _nearest(space, kept)
    return [options[support] for support in sorted(options, key=lambda one: (len(one), one))]


def _nearest(space: FloatArray, kept: np.ndarray) -> FloatArray:
    """The unit vector of these terms alone that is nearest to the space."""
    axes, _, _ = np.linalg.svd(space[kept], full_matrices=False)
    vector = np.zeros(len(space))
    vector[kept] = axes[:, 0]
    return vector


def _plain(
    vector: FloatArray, in_scaled: Callable[[FloatArray], FloatArray], judge: Judge
) -> FloatArray:
    """The vector in its plainest unit, its numbers plain where the judging points allow it."""
    fitted = in_scaled(vector)
    for plain in _plain_options(vector):
        if judge.is_no_worse(in_scaled(plain), fitted, int((vector != 0).sum()) - 1):
            return plain
    largest = vector[np.argmax(np.abs(vector))]
    return vector / largest


def _plain_options(vector: FloatArray) -> list[FloatArray]:
    """Fractions of small denominators near the ratios of a vector's numbers, shortest first."""
    options = []
    for unit in vector[np.flatnonzero(vector)]:
        ratios = [Fraction(value / unit).limit_denominator(SIMPLE_DENOMINATOR) for value in vector]
        plain = np.array([float(ratio) for ratio in ratios])
        if ((plain == 0) == (vector == 0)).all():
            length = sum(len(str(abs(ratio))) for ratio in ratios)
            options.append((length, float(unit), plain))
    options.sort(key=lambda option: (option[0], -abs(option[1])))
    return [plain for _, _, plain in options]


class Reduced:
    """One input less for each translation: the others minus what the translations add to them."""

    def __init__(self, shifts: FloatArray, pivots: list[int]) -> None:
        count = shifts.shape[1]
        self.shifts = shifts  # (t, n_inputs): 1 at its own pivot and 0 at the others
        self.kept = [place for place in range(count) if place not in pivots]
        self.map = np.eye(count)[self.kept]
        self.map[:, pivots] -= shifts[:, self.kept].T

    @classmethod
    def by(cls, translations: FloatArray) -> "Reduced":
        """Choose the inputs to leave out, by elimination with pivots."""
        shifts = translations[:, :, -1].copy()
        pivots: list[int] = []
        for row in range(len(shifts)):
            place = int(np.argmax(np.abs(shifts[row]) / np.abs(shifts[row]).max() > 0.5))
            pivots.append(place)
            shifts[row] /= shifts[row, place]
            for other in range(len(shifts)):
                if other != row:
                    shifts[other] -= shifts[other, place] * shifts[row]
        return cls(shifts, pivots)

    def project(self, field: FloatArray) -> FloatArray:
        """A field on all inputs as one on the reduced inputs."""
        return np.column_stack([self.map @ field[:, :-1][:, self.kept], self.map @ field[:, -1]])

    def section(self, field: FloatArray) -> FloatArray:
        """A field on the reduced inputs as one that does not move the inputs left out."""
        count = self.map.shape[1]
        whole = np.zeros((count, count + 1))
        whole[self.kept, :-1] = field[:, :-1] @ self.map
        whole[self.kept, -1] = field[:, -1]
        return whole

    def lift(self, field: FloatArray, scale: FloatArray, strangers: FloatArray) -> FloatArray:
        """The field on all inputs of fewest terms, up to multiples of the translations."""
        # The sum of absolute coefficients is least, a linear programme; where several have the
        # same, turns are preferred, then scalings of single inputs, and motions within groups.
        start = self.section(field)
        if not len(self.shifts):
            return start
        count = len(start)
        # Columns: what each free number h[t, j], a translation times an input or 1, adds.
        added = np.stack(
            [
                np.outer(shift, np.eye(count + 1)[j]).ravel()
                for shift in self.shifts
                for j in range(count + 1)
            ],
            axis=1,
        )
        weights = np.column_stack([scale / scale[:, None], 1 / scale])
        weights[:, :-1] *= 1 + _PREFERENCE * (1 - np.eye(count) + strangers)
        rows = np.eye(start.size).reshape(count, count + 1, start.size)
        upper = np.triu_indices(count, 1)
        turns = rows[upper[0], upper[1]] + rows[upper[1], upper[0]]
        forms = np.concatenate([np.eye(start.size), turns])
        costs = np.concatenate([weights.ravel(), _PREFERENCE * (weights[upper[0], upper[1]])])
        return _least_sum(start.ravel(), added, forms, costs).reshape(start.shape)


def _least_sum(
    start: FloatArray, added: FloatArray, forms: FloatArray, costs: FloatArray
) -> FloatArray:
    """start + added @ h of least sum costs . |forms @ (...)|."""
    n_free, n_forms = added.shape[1], len(forms)
    slopes, offsets = forms @ added, forms @ start
    identity = np.eye(n_forms)
    found = linprog(
        np.concatenate([np.zeros(n_free), costs]),
        A_ub=np.block([[slopes, -identity], [-slopes, -identity]]),
        b_ub=np.concatenate([-offsets, offsets]),
        bounds=[(None, None)] * n_free + [(0, None)] * n_forms,
    )
    if not found.success:
        return start
    result = start + added @ found.x[:n_free]
    plain = np.round(result * 12) / 12
    return np.where(np.abs(result - plain) < _ZERO, plain, result)
