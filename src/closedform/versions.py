"""Versions of what decides about an answer."""

from closedform._version import __version__


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
