"""Read closed-form concepts out of trained neural networks."""

import re
from pkgutil import get_data
from typing import Any

from closedform import errors as errors

__version__ = "0.2.0"

# The stub beside this file says where every public name lives, for type checkers and for us.
_HOMES = {
    name: module
    for module, name in re.findall(
        r"^from (closedform\.\S+) import (\w+) as \2\s*$",
        (get_data(__name__, "__init__.pyi") or b"").decode(),
        re.MULTILINE,
    )
}

_ANSWERS = ("load_interpretation", "verify")
"""These give answers without the reading, which lets an answer be extended."""

__all__: list[str] = sorted(("__version__", *_HOMES))  # pyright: ignore


def __getattr__(name: str) -> Any:
    """Import everything on first use: much of it is heavy (NumPy, SymPy, SciPy, numba, pandas), so
    the command line answers Ctrl-C from its first moments.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'closedform' has no attribute {name!r}")
    from importlib import import_module

    if not _HOMES[name].startswith(("closedform.errors", "closedform.expressions.")):
        # These give answers, loaded ones too, their reports, plots and replacements.
        import_module("closedform.report")
        import_module("closedform.reading.replacing")
    if name in _ANSWERS:
        import_module("closedform.reading.one_field")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
