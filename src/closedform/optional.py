"""Optional packages are imported where they are used, through one door."""

from importlib import import_module
from types import ModuleType

from closedform.errors import MissingDependencyError


def require(name: str, *, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    Parameters
    ----------
    name : str
        The module to import.
    extra : str
        The extra of closedform that brings it.

    Raises
    ------
    MissingDependencyError
        If the package is not installed.

    Examples
    --------
    >>> require("math", extra="torch").__name__
    'math'
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0]:
            raise
        message = (
            f"{name} is needed for this and is not installed. Install it with: pip install "
            f"'closedform[{extra}]'"
        )
        raise MissingDependencyError(message, name=name) from error
