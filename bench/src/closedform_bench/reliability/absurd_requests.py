"""What cannot be meant, and what must not pass in silence: refused, or told in a note."""

import warnings
from collections.abc import Callable

import numpy as np

import closedform as cf
from closedform.errors import ClosedformError
from closedform_bench.reliability.trial import TrialKind, each

BUDGETS = (10**400, -1, 0, float("nan"), "10", True, None, [], 1j)
PATHS = (3, "", b"a.json", "a\0.json", "\ud800.json", None)


def _points(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.5, 2, (200, 2))


def _budget(rng: np.random.Generator) -> str:
    points, budget = _points(rng), BUDGETS[rng.integers(len(BUDGETS))]
    cf.interpret_field(cf.GradientField.from_arrays(points, 2 * points), budget=budget)  # pyright: ignore[reportArgumentType]
    return f"failed: the budget {budget!r:.20} was taken"


def _path(rng: np.random.Generator) -> str:
    points, path = _points(rng), PATHS[rng.integers(len(PATHS))]
    cf.GradientField.from_arrays(points, 2 * points).save(path)  # pyright: ignore[reportArgumentType]
    return f"failed: the path {path!r} was taken"


def _complex_values(rng: np.random.Generator) -> str:
    cf.extract_field(lambda x: x[:, 0] ** 2 + 1j * x[:, 1], _points(rng), 0)
    return "failed: a part of complex values was read"


def _masked_points(rng: np.random.Generator) -> str:
    cf.extract_field(lambda x: x[:, 0] * x[:, 1], np.ma.masked_less(_points(rng), 0.7), 0)
    return "failed: masked points were read"


def _arbitrary_signs(rng: np.random.Generator) -> str:
    points = _points(rng)
    slopes = 2 * points * rng.choice([-1, 1], (len(points), 1))
    found = cf.GradientField.from_arrays(points, slopes).quality.findings
    is_told = any(finding.code == "arbitrary-signs" for finding in found)
    return "told" if is_told else "failed: nobody said that signs are arbitrary"


def _varying_network(rng: np.random.Generator) -> str:
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        field = cf.extract_field(
            lambda x: x[:, 0] + 0.1 * rng.normal(size=len(x)), _points(rng), 0, rng=0
        )
    is_told = any("differ" in note for note in field.notes)
    return "told" if is_told else "failed: nobody said that the network varies"


def _big_endian(rng: np.random.Generator) -> str:
    points = _points(rng)
    swapped = cf.GradientField.from_arrays(points.astype(">f8"), (2 * points).astype(">f8"))
    same = np.array_equal(
        swapped.directions, cf.GradientField.from_arrays(points, 2 * points).directions
    )
    return "read the same" if same else "failed: it was read as other numbers"


WAYS: tuple[Callable[[np.random.Generator], str], ...] = (
    _budget, _path, _complex_values, _masked_points, _arbitrary_signs, _varying_network,
    _big_endian,
)  # fmt: skip


def _trial(number: int) -> str:
    try:
        return WAYS[number % len(WAYS)](np.random.default_rng(number))
    except ClosedformError:
        return "refused"


KIND = TrialKind(
    "requests",
    "Absurd budgets and paths, complex values, masked points: refused. Arbitrary signs, networks "
    "that vary from call to call: told. The other order of bytes: read the same.",
    350,
    each(_trial),
)
