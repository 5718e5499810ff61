"""What can be wrong with an answer that is to be shown."""

from closedform.errors import ClosedformError


class ReportError(ClosedformError, ValueError):
    """There is nothing to draw, or the parts of an answer do not fit each other."""
