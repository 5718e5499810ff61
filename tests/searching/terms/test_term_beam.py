import numpy as np
import pytest

from closedform.searching.terms.moments import Moments
from closedform.searching.terms.term_beam import Sums, Width, extend, merged, singles

WIDTH = Width(best=5, per_size=2)


def moments_of(truth):
    """Orthogonal terms; only the combination with these coefficients is not lost."""
    unit = truth / np.linalg.norm(truth)
    lost = np.eye(len(truth)) - np.outer(unit, unit)
    return Moments(lost, np.eye(len(truth)), np.diagonal(lost).copy())


MOMENTS = moments_of(np.array([3.0, 0.0, 2.0, 1.0, 0.0, 0.0]))
COSTS = np.array([1, 1, 3, 3, 5, 5])


def grow(supports, complete=(), bound=100.0, width=WIDTH):
    sums = Sums(np.array(supports), np.ones(np.shape(supports)))
    beam = list(extend(MOMENTS, None, COSTS, 1, sums, complete, width, bound))[-1]
    assert beam is not None
    return beam


def test_single_terms_in_order_and_below_the_bound():
    beam = singles(MOMENTS, COSTS, WIDTH, 100.0)
    assert beam.supports[:3] == ((0,), (2,), (3,))
    assert beam.values[0] == pytest.approx(1 - 9 / 14)
    assert singles(MOMENTS, COSTS, WIDTH, 3.0).supports == ((0,), (1,))


def test_a_perfect_support_is_seen_by_its_eigenvalue():
    beam = grow([(0, 2), (0, 3), (1, 4)])
    assert beam.supports == ((0, 2, 3),)
    assert beam.sizes == (9,)
    assert beam.values[0] == pytest.approx(0, abs=1e-9)


def test_the_best_three_terms_need_no_promising_two():
    rng = np.random.default_rng(4)
    noisy = MOMENTS.lost + 0.01 * np.diag(rng.uniform(0.5, 1, 6))
    moments = Moments(noisy, MOMENTS.whole, np.diagonal(noisy).copy())
    every = np.stack(np.triu_indices(6, 1), axis=1)
    job = (Sums(every, np.ones(every.shape)), [], WIDTH, 100.0)
    beam = list(extend(moments, None, COSTS, 1, *job, largest=np.inf))[-1]
    assert beam is not None
    assert beam.supports[0] == (0, 2, 3)
    assert beam.values[0] == pytest.approx(
        np.linalg.eigvalsh(noisy[np.ix_([0, 2, 3], [0, 2, 3])])[0]
    )
    nearly = list(extend(moments, None, COSTS, 1, *job))[-1]
    assert nearly is not None
    assert len(nearly) == 0


def test_nothing_that_holds_a_complete_support():
    assert len(grow([(0, 2)], complete=[(2, 3)])) == 0
    assert len(grow([(0, 2)], complete=[(3,)])) == 0
    assert len(grow([(0, 2)], complete=[(4, 5)])) == 1


def test_nothing_at_the_bound():
    assert len(grow([(0, 2)], bound=9.0)) == 0
    assert len(grow([(0, 2)], bound=10.0)) == 1


def test_merged_beams_hold_each_support_once():
    one, two = grow([(0, 2)]), grow([(0, 3)])
    assert merged([one, two]).supports == ((0, 2, 3),)


def test_terms_that_may_not_be_added_are_not_tried():
    apart = np.ones((6, 6), dtype=bool)
    apart[2, 3] = apart[3, 2] = False
    sums = Sums(np.array([(0, 2), (0, 3)]), np.ones((2, 2)))
    job = (MOMENTS, None, COSTS, 1, sums, (), WIDTH, 100.0, np.inf)
    free, bound = (list(extend(*job, addable))[-1] for addable in (None, apart))
    assert free is not None
    assert bound is not None
    assert (0, 2, 3) in free.supports
    assert len(bound)
    assert not any({2, 3} <= set(support) for support in bound.supports)
