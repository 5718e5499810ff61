"""What stands on a front."""

import closedform as cf
from closedform.searching.front import Candidate, Front


def candidate(text: str, misalignment: float, complexity: int) -> Candidate:
    return Candidate(cf.parse(text, names=["x", "y"]), misalignment, complexity, "terms")


def test_a_plain_formula_stays_beside_one_that_follows_the_bias():
    """x - 2*y**2 was lost to a formula of the same complexity with a fitted constant."""
    fitted = candidate("x + 124.37/(y - 6)", 1.56e-4, 13)
    plain = candidate("x - 2*y**2", 1.63e-4, 13)
    front = Front.of([fitted, plain])
    assert list(front) == [fitted, plain]
    assert front.best is fitted
    assert front.lowest == 1.56e-4


def test_a_plain_formula_that_is_much_worse_does_not():
    fitted, plain = candidate("x + 1.37*y", 1e-4, 9), candidate("x + y*y + x*y", 3e-4, 11)
    assert list(Front.of([plain, fitted])) == [fitted]


def test_what_is_plainer_and_better_alone_stays():
    plain, fitted = candidate("x + y", 1e-4, 3), candidate("x + 1.37*y", 2e-4, 7)
    assert list(Front.of([fitted, plain])) == [plain]
