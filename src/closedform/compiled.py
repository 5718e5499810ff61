"""Compile a function to machine code that is kept on disk for the next process.

numba notices when the function's own file changes, but not when a function that it calls from another file does. So the name
under which the machine code is kept carries a fingerprint of every file that holds compiled code.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

HOT_FILES = (
    "compiled.py",
    "expressions/operators.py",
    "expressions/tape.py",
    "expressions/sweeps.py",
    "expressions/kernel.py",
    "alignment/misalignment.py",
    "alignment/comparison.py",
    "alignment/constants.py",
    "search/evolution/decode.py",
    "search/evolution/structure.py",
    "search/evolution/survival.py",
    "search/terms/lines.py",
)
"""The files whose text decides what the machine code does."""

# No nnan and no ninf: values that are not finite must stay visible. No reassoc either: it lets LLVM take x - x for 0.
OPTIONS: dict[str, Any] = {
    "fastmath": {"nsz", "arcp", "contract", "afn"},
    "error_model": "numpy",
    "nogil": True,
    "cache": True,
}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile with numba: releases the interpreter lock, never raises on division by zero, keeps nan and inf."""
    function.__qualname__ += f"-{_fingerprint()}"
    return njit(**OPTIONS)(function)


@cache
def _fingerprint() -> str:
    package = Path(__file__).parent
    return sha256(b"".join((package / name).read_bytes() for name in HOT_FILES)).hexdigest()[:12]
