"""Every block of code in the README runs alone, in a process of its own, and soon enough for a new installation."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
SECONDS = 40

RUN = """
import doctest, sys
example = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "README", "README.md", 0)
sys.exit(min(doctest.DocTestRunner().run(example).failed, 1))
"""


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty place for machine code: the first block compiles, as on a new machine."""
    return str(tmp_path_factory.mktemp("machine_code"))


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs_alone(number: int, machine_code: str, tmp_path: Path) -> None:
    before = sum(os.times()[2:4])
    environment = os.environ | {"NUMBA_CACHE_DIR": machine_code}
    process = subprocess.run(
        [sys.executable, "-c", RUN], input=BLOCKS[number], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert process.returncode == 0, process.stdout + process.stderr
    # Processor seconds: the clock would measure who else is on the machine.
    assert sum(os.times()[2:4]) - before < SECONDS
