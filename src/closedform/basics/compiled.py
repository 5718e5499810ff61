"""Compile a function to machine code that is kept on disk for the next process.

numba notices when the function's own file changes, but not when a function that it calls from
another file does. So the name under which the machine code is kept carries a fingerprint of every
file that holds compiled code.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from llvmlite.binding import add_symbol
from numba import cfunc, njit

HOT_FILES = (
    "basics/compiled.py",
    "expressions/operator_entry.py",
    "expressions/operators.py",
    "expressions/numpy_callback.py",
    "expressions/tape.py",
    "expressions/formula_code.py",
    "expressions/sweeps.py",
    "expressions/kernel.py",
    "field/alignment/tolerances.py",
    "field/alignment/misalignment.py",
    "field/alignment/comparison.py",
    "field/alignment/constant_fit.py",
    "searching/evolution/decode.py",
    "searching/evolution/tree_facts.py",
    "searching/evolution/survival.py",
    "searching/structure_search/screening.py",
    "searching/terms/next_terms.py",
)
"""The files whose text decides what the machine code does."""

# No nnan and no ninf: values that are not finite must stay visible. No reassoc either: it lets LLVM
# take x - x for 0.
OPTIONS: dict[str, Any] = {
    "fastmath": {"nsz", "arcp", "contract", "afn"},
    "error_model": "numpy",
    "nogil": True,
    "cache": True,
}
# Ways in from C and Python that nobody takes would be compiled with every function.
ENTRY: dict[str, Any] = {"no_cfunc_wrapper": True}
INNER: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile with numba: releases the interpreter lock, never raises on division by zero, keeps
    nan and inf.
    """
    function.__qualname__ += f"-{fingerprint()}"
    return njit(**OPTIONS, **ENTRY)(function)


def compiled_part(function: Callable[..., Any]) -> Any:
    """Compile a part of a compiled function, which Python itself never calls."""
    function.__qualname__ += f"-{fingerprint()}"
    return njit(**OPTIONS, **INNER)(function)


def compiled_pointer(function: Callable[..., Any], signature: Any, symbol: str) -> Any:
    """Compile a function of numbers and pointers, and let other compiled functions call it under a
    name.

    They do so by ``types.ExternalFunction(symbol, signature)``, which finds the address when their
    machine code is loaded.
    """
    function.__qualname__ += f"-{fingerprint()}"
    pointer = cfunc(signature, **OPTIONS)(function)
    add_symbol(symbol, pointer.address)
    return pointer


@cache
def fingerprint() -> str:
    """Of the text of all files with compiled code."""
    package = Path(__file__).parents[1]
    return sha256(b"".join((package / name).read_bytes() for name in HOT_FILES)).hexdigest()[:12]
