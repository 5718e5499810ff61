"""What can be wrong with units."""

from closedform.errors import ClosedformError


class UnitsError(ClosedformError, ValueError):
    """Units that cannot be read, or that make what is asked for impossible."""
