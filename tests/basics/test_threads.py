import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import closedform as cf
from closedform.basics.threads import single_threaded
from closedform.searching.engine import get_engine


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert single_threaded(blas_threads)() == {1}
        assert blas_threads() == before == {2}


def test_an_error_gives_the_threads_back():
    def fail():
        raise ValueError("no")

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="no"):
            single_threaded(fail)()
        assert blas_threads() == {2}


@pytest.mark.parametrize("engine", ["terms", "evolution", "auto"])
def test_every_engine_searches_with_one(engine):
    seen = []

    class Watching:
        def show(self, snapshot):
            seen.append(blas_threads())

        def close(self):
            pass

    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (100, 2))
    # Nothing fits, so that no engine is done before it has shown anything.
    field = cf.GradientField.from_arrays(points, rng.normal(size=(100, 2)), names=["x", "v"])
    with threadpool_limits(2, user_api="blas"):
        get_engine(engine).search(
            field, cf.SearchSpace(), cf.Budget(seconds=1), np.random.default_rng(0), Watching()
        )
    assert seen
    assert all(threads == {1} for threads in seen)
