import numpy as np

import closedform as cf
from closedform.field.quality import find_categories


def table(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(1, 2, (n, 2)), np.eye(3)[rng.integers(0, 3, n)]])


def test_one_hot_columns_are_one_category_with_what_to_type() -> None:
    points = table()
    field = cf.GradientField.from_arrays(
        points, np.ones_like(points), names=["A", "d", "steel", "copper", "brass"]
    )
    finding = field.quality.finding("one-hot-inputs")
    assert finding is not None
    assert finding.message.startswith("steel, copper, brass look like one category")
    assert "wrt=['A', 'd']" in finding.message


def test_two_categories_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    points = np.column_stack([np.eye(2)[rng.integers(0, 2, 60)], np.eye(3)[rng.integers(0, 3, 60)]])
    assert find_categories(points) == ((0, 1), (2, 3, 4))


def test_columns_of_zero_and_one_that_are_independent_are_no_category() -> None:
    points = np.random.default_rng(0).integers(0, 2, (200, 3)).astype(float)
    assert find_categories(points) == ()
