"""How many symmetries: first the translations that leave the field alone, then, in what they leave
of the inputs, the affine fields that do.

The condition v . grad f = 0 has infinitely many solutions, for any function times a solution is
one. Among affine fields these are the multiples of translations; without the inputs along which
nothing changes there are none.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.alignment.eigen import varying_modes
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.tolerances import LEAST_GAP
from closedform.reading.symmetries.breaking import Judge
from closedform.reading.symmetries.level_sets import LevelSets


@dataclass(frozen=True, slots=True)
class NullSpace:
    """The vector fields of a library that are symmetries."""

    fields: FloatArray  # (n_fields, n_inputs, n_inputs + 1): in scaled inputs
    nearest: FloatArray | None  # (n_inputs, n_inputs + 1): the best of those that are none


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
    """Affine fields on the inputs without the translations.

    complement (n_inputs, n_left): orthonormal columns, what the translations leave.
    """
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
    """Those that hold on unseen points, up to a gap.

    values (n_fields,): ascending, of the points that the fields were fitted to.
    """
    count = 0
    while count < len(fields) and judge.measure(fields[count]).holds:
        count += 1
    floors = np.maximum(values, PERFECT)
    # Where the next field is hardly worse these are the best of many that nearly hold by chance.
    while 0 < count < len(fields) and floors[count] < LEAST_GAP * floors[count - 1]:
        count -= 1
    return NullSpace(fields[:count], fields[count] if count < len(fields) else None)
