from pathlib import Path

import torch
from torch import nn
from typer.testing import CliRunner

from closedform.cli.app import app


def run(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor", str(path)])
    return result.exit_code, result.output


def test_a_file_that_opens(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2).state_dict(), tmp_path / "model.pt")

    code, output = run(tmp_path / "model.pt")

    assert code == 0
    assert "archive of torch.save" in output
    assert "weight  2x3 float" in output
    assert output.endswith("closedform opens it\n")


def test_a_file_that_is_refused(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2), tmp_path / "model.pt")

    code, output = run(tmp_path / "model.pt")

    assert code == 1
    assert "unpickling would import" in output
    assert "closedform refuses it" in output


def test_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    torch.save({f"\x1b[2Jevil{place}": torch.ones(2) for place in range(60)}, tmp_path / "model.pt")

    code, output = run(tmp_path / "model.pt")

    assert code == 0
    assert "\x1b" not in output
    assert "\\x1b[2Jevil0" in output
    assert "and " in output
    assert " more" in output
