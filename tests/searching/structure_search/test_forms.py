"""Functions of one quantity."""

import numpy as np
import pytest

from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import wider_forms
from closedform.searching.structure_search.quantities import Data, first_state


@pytest.mark.filterwarnings("error")
def test_slopes_that_no_square_can_hold_are_far_from_all_others():
    """They warned of an overflow."""
    points = np.random.default_rng(0).uniform(1, 3, (50, 2))
    data = Data(points, np.full((50, 2), 0.5**0.5), np.ones(2), np.full(50, 0.02), ("x", "y"))
    forms = wider_forms(first_state(data).quantities[0], SearchSpace())
    weights = np.full(len(forms.slopes[0]), 1e200)
    assert list(forms.nearest(np.ones(len(weights)), 5, weights)) == []
    near = [bool(form.free) for form, _, _ in forms.nearest(np.ones(len(weights)), 5)]
    assert sorted(near) == 5 * [False] + 5 * [True]
