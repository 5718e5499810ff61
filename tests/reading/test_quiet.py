"""Numbers of any size: no overflow warning of ours reaches the user."""

import warnings

import numpy as np
import pytest

import closedform as cf

SIZES = {"si": (1e-31, 3e8, 1e-34), "huge": (1e30, 1e45, 1e-40), "far": (1.0, 1e3, 1.0)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("engine", ["terms", "evolution", "structure"])
def test_a_search_does_not_warn_of_overflow(size, engine) -> None:
    """exp(x) of an x of 1e45 is tried, and is no answer; nobody wants to read about it."""
    points = np.random.default_rng(0).uniform(1, 2, (300, 3)) * SIZES[size]
    m, v, h = points.T
    slopes = np.stack([v**2 / h, 2 * m * v / h, -m * v**2 / h**2], axis=1)
    field = cf.GradientField.from_arrays(points, slopes, names=["m", "v", "h"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cf.search(field, engine=engine, budget=cf.Budget(evaluations=600), rng=0)
    assert [str(one.message) for one in told] == []


def test_a_verdict_does_not_warn_of_overflow() -> None:
    points = np.random.default_rng(0).uniform(1, 2, (300, 2)) * [1e-31, 3e8]
    m, v = points.T
    slopes = np.stack([v**2, 2 * m * v], axis=1)
    field = cf.GradientField.from_arrays(points, slopes, latents=m * v**2, names=["m", "v"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = cf.interpret_field(
            field, engine="terms", hypothesis="m*v**30", budget=cf.Budget(evaluations=600), rng=0
        )
        str(answer)
        answer.latex()
    assert [str(one.message) for one in told] == []
