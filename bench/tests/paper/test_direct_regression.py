import numpy as np
import pytest

from closedform.searching.evolution.operon import is_available
from closedform.searching.space import SearchSpace
from closedform_bench.paper.direct_regression import regress

pytestmark = pytest.mark.skipif(not is_available(), reason="pyoperon has no wheel here")


def test_values_are_fitted_with_the_operators_of_the_space() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (700, 2))
    values = 3 * points[:, 0] * points[:, 1] - 2
    front = regress(
        points, values, ["x", "v"], SearchSpace(operators=["add", "mul"]), seconds=1, seed=0
    )

    assert front[0].names == ("x", "v")
    np.testing.assert_allclose(front[0](points), values, atol=1e-3)
    errors = [float(np.mean((formula(points) - values) ** 2)) for formula in front]
    assert errors == sorted(errors)
    assert not any("sin" in str(formula) for formula in front)
