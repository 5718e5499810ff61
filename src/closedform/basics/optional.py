"""Optional packages are imported where they are used, through one door."""

from importlib import import_module
from types import ModuleType

from closedform import __version__
from closedform.errors import MissingDependencyError


def require(name: str, *, extra: str) -> ModuleType:
    """Import an optional module, or say which extra of closedform brings it."""
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


def versions() -> dict[str, str]:
    """Of this package, Python, and the packages that compute."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"closedform": __version__, "python": python_version()}
    for name in ("numpy", "numba", "sympy", "pyoperon"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
