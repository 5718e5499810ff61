"""Every block of code in the README runs alone, in a process of its own, and soon enough for a new
installation.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
SECONDS = 40

# The budgets count seconds of the processor, so that who else is on the machine does not decide.
RUN = """
import doctest, sys
from closedform.searching.budget import processor_seconds
example = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "README", "README.md", 0)
with processor_seconds():
    sys.exit(min(doctest.DocTestRunner().run(example).failed, 1))
"""


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs_alone(number: int, tmp_path: Path) -> None:
    run(BLOCKS[number], tmp_path, {})


@pytest.mark.slow
def test_the_first_block_is_quick_on_a_new_machine(tmp_path: Path) -> None:
    before = sum(os.times()[2:4])
    run(BLOCKS[0], tmp_path, {"NUMBA_CACHE_DIR": str(tmp_path)})
    # Processor seconds: the clock would measure who else is on the machine.
    assert sum(os.times()[2:4]) - before < SECONDS


def run(block: str, folder: Path, settings: dict[str, str]) -> None:
    """Run a block in a process of its own."""
    process = subprocess.run(
        [sys.executable, "-c", RUN],
        input=block,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | settings,
    )
    assert process.returncode == 0, process.stdout + process.stderr
