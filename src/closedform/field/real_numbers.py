"""Numbers that a field can work with: real, finite, and far enough from the ends of their range."""

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.field.errors import FieldError
from closedform.field.tolerances import LARGEST, SINGLE_PRECISION


def real_array(values: ArrayLike, what: str, *, masked: float | None = None) -> FloatArray:
    """An array of real numbers as float64, without guessing what anything else may mean.

    Parameters
    ----------
    what : str
        For messages, in the plural.
    masked : float, optional
        What stands for masked entries; they are refused by default.

    Examples
    --------
    >>> real_array([[1, 2]], "points")
    array([[1., 2.]])
    >>> real_array([1j], "points")
    Traceback (most recent call last):
    closedform.field.errors.FieldError: The points are of type complex128; pass real numbers.
    """
    if np.ma.isMaskedArray(values):
        hidden = int(np.ma.count_masked(values))
        if hidden and masked is None:
            raise FieldError(f"{hidden} entries of the {what} are masked; remove their rows.")
        values = np.ma.filled(np.ma.asarray(values).astype(np.float64), masked)
    try:
        array = np.asarray(values)
    except ValueError as error:
        message = f"The {what} are not an array ({error}); pass rows of one length."
        raise ShapeError(message) from error
    if array.dtype.kind not in "fiub":
        raise FieldError(f"The {what} are of type {array.dtype}; pass real numbers.")
    # Numbers of higher precision may be too large; they become infinite, and that is told.
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def check_range(values: FloatArray, what: str) -> None:
    """See whether numbers are finite and not too large.

    Examples
    --------
    >>> check_range(np.array([1e155]), "points")
    Traceback (most recent call last):
    closedform.field.errors.FieldError: The points reach 1e+155; at most 1e+50 is allowed. Use other
    units.
    """
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        bad = int((~np.isfinite(values)).sum())
        raise FieldError(f"{bad} numbers of the {what} are nan or infinite; remove their rows.")
    if largest > LARGEST:
        raise FieldError(
            f"The {what} reach {largest:.3g}; at most {LARGEST:g} is allowed. Use other units."
        )


def check_orthonormal(bases: FloatArray, what: str) -> None:
    """See whether the columns of matrices, shape (..., n, m), are orthonormal.

    Examples
    --------
    >>> check_orthonormal(np.array([[1.0], [1.0]]), "frames")
    Traceback (most recent call last):
    closedform.field.errors.FieldError: The frames are not orthonormal: products of their columns
    are off by 1.
    """
    if not bases.size:
        return
    # Entries of orthonormal columns are at most 1; larger ones would overflow in the products.
    if not np.abs(bases).max() <= 1 + SINGLE_PRECISION:
        worst = np.abs(bases).max()
        raise FieldError(f"The {what} are not orthonormal: an entry is as large as {worst:.3g}.")
    products = np.swapaxes(bases, -1, -2) @ bases
    worst = np.abs(products - np.eye(bases.shape[-1])).max()
    if worst > SINGLE_PRECISION:
        raise FieldError(
            f"The {what} are not orthonormal: products of their columns are off by {worst:.2g}."
        )
