"""Warnings that point at the user's own line, however many of our functions lie between."""

import sys
import warnings

from closedform.errors import ClosedformWarning


def warn(message: str) -> None:
    """Issue a `ClosedformWarning` at the first caller outside this package."""
    level, frame = 1, sys._getframe()
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").split(".")[0] == "closedform"
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ClosedformWarning, stacklevel=level)
