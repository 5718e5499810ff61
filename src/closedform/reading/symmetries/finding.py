"""`closedform.symmetries`: the affine motions of the inputs that a field does not see.

The condition v . grad f = 0 has infinitely many solutions, for any function times a solution is
one. Among affine fields these are the multiples of translations. So translations come first, and
then, in what they leave of the inputs, the affine fields, of which no multiples are left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import checked_keywords
from closedform.basics.randomness import Randomness, as_seed
from closedform.basics.threads import single_threaded
from closedform.errors import FieldError
from closedform.field.alignment.eigen import varying_modes
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.field.tolerances import LEAST_GAP
from closedform.reading.symmetries.affine import (
    LARGEST_ERROR,
    Judge,
    LevelSets,
    ScaledInputs,
    level_sets,
    parse_field,
)
from closedform.reading.symmetries.found_symmetries import Generator, Symmetries, algebra_of
from closedform.reading.symmetries.plain_basis import plain_fields, plain_translations
from closedform.searching.search_stage import MOST_HELD_OUT, choose_points

MOST_INPUTS = 40
"""With these the affine fields are 1,640, and their moments grow with the square of that; more were
not tried."""


_BOX = (2, 98)  # per cent: pictures leave out what lies farthest


@dataclass(frozen=True, slots=True)
class NullSpace:
    """The vector fields of a library that are symmetries."""

    fields: FloatArray  # (n_fields, n_inputs, n_inputs + 1): in scaled inputs
    nearest: FloatArray | None  # (n_inputs, n_inputs + 1): the best of those that are none


@single_threaded
@checked_keywords
def symmetries(
    field: GradientField,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    stated: Sequence[str] = (),
    rng: Randomness = None,
) -> Symmetries:
    """Find the affine motions of the inputs that leave a neuron alone.

    A vector field v with v . grad f = 0 does not depend on phi, so it can be read where no formula
    can. It is fitted to most of the points and judged on the others. Translations are counted
    first; then the affine fields on the inputs without those along which nothing changes.

    Parameters
    ----------
    field : GradientField
    groups : mapping of str to sequence of str, optional
        Inputs that belong together, such as the coordinates of one body:
        ``{"a": ["ax", "ay"], "b": ["bx", "by"]}``. Generators that move them alike say so.
    stated : sequence of str
        Vector fields that you want to know about, such as ``"x*d_y - y*d_x"``: how broken they are,
        whether or not they are found.
    rng : int, Generator or None

    Returns
    -------
    Symmetries

    Raises
    ------
    FieldError
        If there are more than 40 inputs, a group names an unknown input, or no point counts.
    ExpressionError
        If a stated field is not affine.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    >>> field = cf.GradientField.from_arrays(points, points * [1, 1, 0], names=["x", "y", "z"])
    >>> print(cf.symmetries(field, rng=0))
    2 symmetries: so(2) and translation.
      v1 = d_z   [translation, exact]
      v2 = x*d_y - y*d_x   [rotation, exact]
    """
    start, seed = perf_counter(), as_seed(rng)
    generator = np.random.default_rng(seed)
    _check(field, groups or {})
    asked = [parse_field(text, field.names) for text in stated]
    seen, unseen = _split(field, generator)
    inputs = ScaledInputs(np.median(field.points[field.weights > 0], axis=0), field.scale)
    judge = Judge(field.subset(unseen), inputs.centre, generator)
    levels = level_sets(field.subset(seen), inputs.centre)
    shifts = null_translations(levels, judge)
    translations = plain_translations(shifts.fields, inputs, judge)
    turns = null_affine_fields(levels, _complement(translations, inputs), judge)
    strangers = _strangers(field.names, groups or {})
    fields = plain_fields(turns.fields, translations, inputs, judge, strangers)
    nearest = _nearest((shifts, turns), inputs, judge)

    def told(matrix: FloatArray) -> Generator:
        broken = judge.measure(inputs.scaled(matrix))
        alike = _alike(matrix, field.names, groups or {})
        return Generator(frozen(matrix), field.names, broken, alike)

    near = None if nearest is None else told(nearest)
    used = field.points[field.weights > 0]
    return Symmetries(
        generators=tuple(told(each) for each in (*translations, *fields)),
        n_translations=len(translations),
        algebra=algebra_of(translations, fields),
        nearest=near,
        stated=tuple(told(each) for each in asked),
        names=field.names,
        notes=_notes(field, near),
        box=frozen(np.percentile(used, _BOX, axis=0)),
        n_seen=len(seen),
        n_judged=len(unseen),
        seconds=perf_counter() - start,
        seed=seed,
    )


def _check(field: GradientField, groups: Mapping[str, Sequence[str]]) -> None:
    if len(field.names) > MOST_INPUTS:
        raise FieldError(
            f"The field has {len(field.names)} inputs, and affine motions of more than "
            f"{MOST_INPUTS} take too long; pass a field of fewer inputs."
        )
    if int((field.weights > 0).sum()) < 2:
        raise FieldError("Fewer than two points count, so that nothing can be judged; pass more.")
    for name, members in groups.items():
        unknown = [each for each in members if each not in field.names]
        if unknown:
            raise FieldError(
                f"The group {name!r} names {unknown[0]!r}, which is not an input; the inputs are "
                f"{', '.join(field.names)}."
            )


def _notes(field: GradientField, nearest: Generator | None) -> tuple[str, ...]:
    if field.rank >= field.tangent.rank:
        return ("The directions fill the data's tangent space, so that every motion is seen.",)
    if field.slopes is None and nearest is not None and nearest.broken.degrees <= LARGEST_ERROR:
        return (
            "The field has no values of the latent, so that a network's error cannot be told from "
            "a broken symmetry: only what holds up to rounding or noise counts.",
        )
    return ()


def _split(
    field: GradientField, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The points that a search would see, and at most as many others as decide a verdict."""
    seen = choose_points(field, rng)
    others = np.setdiff1d(np.flatnonzero(field.weights > 0), seen)
    if len(others) > MOST_HELD_OUT:
        others = np.sort(rng.choice(others, MOST_HELD_OUT, replace=False))
    return seen, others


def _complement(translations: FloatArray, inputs: ScaledInputs) -> FloatArray:
    """Orthonormal columns that span what translations leave of the scaled inputs."""
    shifts = translations[:, :, -1] / inputs.scale
    return np.linalg.svd(shifts, full_matrices=True)[2][len(shifts) :].T


def _nearest(spaces: Sequence[NullSpace], inputs: ScaledInputs, judge: Judge) -> FloatArray | None:
    """The least broken field that is not a symmetry, with few terms."""
    rest = [space.nearest for space in spaces if space.nearest is not None]
    if not rest:
        return None
    best = min(rest, key=judge.mean)
    count = len(best)
    none, alone = np.zeros((0, count, count + 1)), np.zeros((count, count))
    return plain_fields(best[None], none, inputs, judge, alone)[0]


def _strangers(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> FloatArray:
    """1 where two inputs are of different groups, else 0."""
    home = [next((g for g, inside in groups.items() if name in inside), "") for name in names]
    return np.array([[float(a != b) for b in home] for a in home])


def _alike(
    matrix: FloatArray, names: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The groups that a field moves by the same map, each within itself; none if it does more."""
    places = [[names.index(each) for each in members] for members in groups.values()]
    if len({len(each) for each in places}) != 1:
        return ()
    blocks = [matrix[np.ix_(each, [*each, len(names)])] for each in places]
    if not blocks[0].any() or any((block != blocks[0]).any() for block in blocks):
        return ()
    rest = matrix.copy()
    for each in places:
        rest[np.ix_(each, [*each, len(names)])] = 0.0
    return () if rest.any() else tuple(groups)


def null_translations(seen: LevelSets, judge: Judge) -> NullSpace:
    """Constant fields."""
    count = seen.n_inputs
    weights = seen.weights / seen.weights.sum()
    lost = np.einsum("n,nci,ncj->ij", weights, seen.across, seen.across)
    values, vectors = np.linalg.eigh(lost)
    fields = np.zeros((count, count, count + 1))
    fields[:, :, -1] = vectors.T
    return _cut(values, fields, judge)


def null_affine_fields(seen: LevelSets, complement: FloatArray, judge: Judge) -> NullSpace:
    """Affine fields on what the translations leave, orthonormal columns (n_inputs, n_left)."""
    left = complement.shape[1]
    lost, whole = seen.quotient(complement).moments()
    values, vectors = varying_modes(lost, whole)
    fields = lift(vectors.T.reshape(-1, left, left + 1), complement)
    lengths = np.linalg.norm(fields, axis=(1, 2), keepdims=True)
    return _cut(values, fields / lengths, judge)


def lift(fields: FloatArray, complement: FloatArray) -> FloatArray:
    """Fields on the complement as fields on all inputs that do not change along the rest."""
    linear = complement @ fields[..., :-1] @ complement.T
    constant = complement @ fields[..., -1:]
    return np.concatenate([linear, constant], axis=-1)


def _cut(values: FloatArray, fields: FloatArray, judge: Judge) -> NullSpace:
    """Those that hold on unseen points, up to a gap in their ascending fitted values."""
    count = 0
    while count < len(fields) and judge.measure(fields[count]).holds:
        count += 1
    floors = np.maximum(values, PERFECT)
    # Where the next field is hardly worse these are the best of many that nearly hold by chance.
    while 0 < count < len(fields) and floors[count] < LEAST_GAP * floors[count - 1]:
        count -= 1
    return NullSpace(fields[:count], fields[count] if count < len(fields) else None)
