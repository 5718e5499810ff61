"""One thread for linear algebra: our matrices are small, and threads that wait for each other cost
more than they give.

On a busy machine the waiting makes small problems many times slower.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with one BLAS thread; afterwards there are as many as before."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> R:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return function(*args, **options)

    return run
