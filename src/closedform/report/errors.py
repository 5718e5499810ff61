"""What can be wrong with the data of a report."""

from closedform.errors import ClosedformError


class ReportError(ClosedformError, ValueError):
    """The data of a report do not fit each other."""
