"""What all tests need, of both distributions."""

import random
import signal
import sys

import pytest

# Where a shell started pytest in the background SIGINT is ignored, and tests of Ctrl-C would wait
# for what cannot come.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def doctests_write_elsewhere(request: pytest.FixtureRequest) -> None:
    """Examples save files, which must not stay in the checkout."""
    if isinstance(request.node, pytest.DoctestItem):
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What draws without a seed of its own draws the same, whatever ran before."""
    random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
