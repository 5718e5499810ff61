"""How an answer came about: seed, budget and versions in words."""

import numpy as np

from closedform._version import __version__
from closedform.searching.budget import Budget


def seed_of(rng: int | np.random.Generator | None) -> int:
    """The seed itself, or one drawn from a generator."""
    if isinstance(rng, int):
        return rng
    generator = np.random.default_rng() if rng is None else rng
    return int(generator.integers(2**31))


def budget_in_words(budget: Budget) -> str:
    """The limits as text."""
    parts = [f"{budget.seconds:g} s"] if budget.seconds is not None else []
    parts += [f"{budget.evaluations} evaluations"] if budget.evaluations is not None else []
    return " or ".join(parts)


def versions() -> dict[str, str]:
    """Versions of what decides about the answer."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"closedform": __version__, "python": python_version()}
    for name in ("numpy", "numba", "sympy", "pyoperon"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
