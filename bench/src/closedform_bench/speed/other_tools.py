"""Fits values with gplearn and PySINDy, in an environment of theirs.

    python other_tools.py fields.npz gplearn 10

prints as JSON, for each field in the file, processor seconds and whether the formula is right. It
runs alone, without this package; the file holds for each field ``NAME/points``, ``NAME/values``,
``NAME/fresh`` and ``NAME/gradients`` at the fresh points.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

RIGHT, STEP = 1e-6, 1e-4
Function = Callable[[Any], Any]
"""From points to values."""


def is_right(function: Function, fresh: Any, gradients: Any) -> bool:
    """Whether a function grows in the right directions, by central differences."""
    with np.errstate(all="ignore"):
        shifts = STEP * np.eye(fresh.shape[1])
        found = np.stack([function(fresh + s) - function(fresh - s) for s in shifts], axis=1)
        first, second = (
            rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (found, gradients)
        )
        angles = ((first - second * (first * second).sum(axis=1)[:, None]) ** 2).sum(axis=1)
    return bool(np.where(np.isfinite(angles), angles, 1.0).max() < RIGHT)


class Checker:
    """Checks functions, and tells processor seconds without those of its checks."""

    def __init__(self, fresh: Any, gradients: Any) -> None:
        self.fresh, self.gradients = fresh, gradients
        self.started = time.process_time()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.process_time() - self.started

    def accepts(self, function: Function) -> bool:
        """Whether a function is right."""
        before = time.process_time()
        right = is_right(function, self.fresh, self.gradients)
        self.started += time.process_time() - before
        return right


def fit_gplearn(points: Any, values: Any, checker: Checker, most: float) -> tuple[bool, float]:
    """One generation after the other, until the best program is right or time is over."""
    genetic = importlib.import_module("gplearn.genetic")
    functions = importlib.import_module("gplearn.functions")

    def bounded(x: Any) -> Any:
        return np.exp(np.clip(x, -20, 20))

    allowed = ["add", "sub", "mul", "div", "sqrt", "log", "sin", "cos"]
    allowed.append(functions.make_function(function=bounded, name="exp", arity=1))
    regressor = genetic.SymbolicRegressor(
        function_set=allowed, generations=1, warm_start=True, stopping_criteria=0.0, random_state=0
    )
    best, reached = np.inf, 0.0
    while True:
        regressor.fit(points, values)
        seconds = checker.seconds
        if regressor._program.raw_fitness_ < best:
            best, reached = regressor._program.raw_fitness_, seconds
            if checker.accepts(regressor._program.execute):
                return True, reached
        if seconds > most:
            return False, reached
        regressor.set_params(generations=regressor.generations + 1)


def fit_pysindy(points: Any, values: Any, checker: Checker, most: float) -> tuple[bool, float]:
    """Sparse regression on polynomials and functions of single inputs; right if any of several
    thresholds gives the right sum.
    """
    pysindy = importlib.import_module("pysindy")
    used = [np.sin, np.cos, np.exp, *([np.log] if points.min() > 0 else [])]
    # It counts the arguments of functions, which those of NumPy do not tell.
    functions = [_of_one_argument(function) for function in used]
    names = [_of_one_argument(f"{function.__name__}({{}})".format) for function in used]
    library = pysindy.GeneralizedLibrary(
        [
            pysindy.PolynomialLibrary(degree=3),
            pysindy.CustomLibrary(library_functions=functions, function_names=names),
        ]
    )
    library.fit(points)
    terms = np.asarray(library.transform(points))
    for threshold in (1e-3, 1e-2, 0.1, 0.3):
        fitted = pysindy.STLSQ(threshold=threshold).fit(terms, values[:, None])
        weights = np.asarray(fitted.coef_).ravel()
        if checker.accepts(lambda x, w=weights: np.asarray(library.transform(x)) @ w):
            return True, checker.seconds
    return False, checker.seconds


def _of_one_argument(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x)


TOOLS = {"gplearn": fit_gplearn, "pysindy": fit_pysindy}


def main() -> None:
    """Fit every field of a file; the first one twice, since a first use imports."""
    path, tool, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    found: dict[str, Any] = {"version": importlib.import_module("importlib.metadata").version(tool)}
    with np.load(path) as arrays:
        fields = {
            name: [arrays[f"{name}/{what}"] for what in ("points", "values", "fresh", "gradients")]
            for name in dict.fromkeys(key.rpartition("/")[0] for key in arrays)
        }
    for name, allowed in ((next(iter(fields)), 0.0), *((name, most) for name in fields)):
        points, values, fresh, gradients = fields[name]
        right, seconds = TOOLS[tool](points, values, Checker(fresh, gradients), allowed)
        found[name] = {"right": right, "seconds": seconds}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
