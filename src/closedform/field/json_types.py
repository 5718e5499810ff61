"""Types of what JSON holds: a number in the place of a word fails here, not later."""

import types
from math import isnan
from typing import Any, Literal, Union, get_args, get_origin

from closedform.field.errors import FieldError


def typed(value: Any, kind: Any, what: str) -> Any:
    """The value, if it has the type.

    Examples
    --------
    >>> typed(2, int | None, "rank")
    2
    >>> typed("2", int | None, "rank")
    Traceback (most recent call last):
    closedform.field.errors.FieldError: Its rank is '2', which is not of the type int | None.
    """
    if not has_type(value, kind):
        said = kind.__name__ if isinstance(kind, type) and not get_args(kind) else kind
        raise FieldError(f"Its {what} is {value!r}, which is not of the type {said}.")
    return value


def has_type(value: Any, kind: Any) -> bool:
    """Whether a value has a type: plain ones, tuples of one, unions, literals and dictionaries.

    A float is not nan, and a boolean is not a number.

    Examples
    --------
    >>> has_type((1.0, 2), tuple[float, ...]), has_type(True, int), has_type(float("nan"), float)
    (True, False, False)
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(has_type(value, one) for one in arguments)
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        return isinstance(value, tuple) and all(has_type(one, arguments[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict)
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and not isnan(value)
    return isinstance(value, kind)
