import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from closedform.cli.app import main


class Ended(NamedTuple):
    """What a call of the command line came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the command line in this process, which has all packages loaded; an error that it does
    not catch is raised.
    """

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["closedform", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        said = capsys.readouterr()
        return Ended(code or 0, said.out, said.err)

    return run
