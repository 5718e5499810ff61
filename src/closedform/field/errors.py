"""The error of this room."""

from closedform.errors import ClosedformError


class FieldError(ClosedformError, ValueError):
    """A gradient field cannot be built, read or written from what was given."""
