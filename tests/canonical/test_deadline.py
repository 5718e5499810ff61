import gc
import subprocess
import sys
import time

import pytest

from closedform.canonical.parallel import DeadlineExceeded, time_limit


def work(limit: float, seconds: float) -> None:
    """Keep busy under a limit, and fail in the end."""
    with time_limit(limit):
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends:
            pass
        raise KeyError


def test_a_block_that_takes_too_long_is_interrupted() -> None:
    began = time.perf_counter()
    with pytest.raises(DeadlineExceeded):
        work(limit=0.05, seconds=60)
    assert time.perf_counter() - began < 30


def test_a_block_in_time_is_not() -> None:
    with pytest.raises(KeyError):
        work(limit=60, seconds=0.01)


def test_nothing_arrives_after_the_block() -> None:
    # Blocks that end about when the interrupt is sent: it arrives inside or not at all.
    for _ in range(300):
        with pytest.raises((KeyError, DeadlineExceeded)):
            work(limit=0.001, seconds=0.001)
        for _ in range(100):
            time.sleep(0)
        assert gc.isenabled()


def test_the_interrupt_is_not_lost_in_a_callback_of_the_collector() -> None:
    called = []

    def slow(phase: str, info: dict[str, int]) -> None:
        called.append(phase)

    gc.callbacks.append(slow)
    try:
        with time_limit(60):
            before = len(called)
            for _ in range(20_000):
                ring: list[object] = []
                ring.append(ring)
            assert len(called) == before
    finally:
        gc.callbacks.remove(slow)
    assert gc.isenabled()


@pytest.mark.parametrize("tracer", ["settrace", "setprofile"])
def test_debuggers_and_profilers_do_not_hang(tracer: str) -> None:
    program = (
        f"import sys; sys.{tracer}(lambda *_: None)\n"
        "from closedform.canonical.parallel import time_limit\n"
        "with time_limit(5): pass\n"
        "def call(): pass\n"
        "call(); print('went on')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "went on\n", done.stderr
