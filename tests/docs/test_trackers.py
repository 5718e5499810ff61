"""The guide on experiment trackers, run against the real packages. They bring some forty others, so
that they are an extra of their own, `trackers`; without them these tests are skipped, and say so.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from example_interpretation import example_interpretation

ROOT = Path(__file__).parents[2]
WHY = "not installed here; pip install 'closedform[trackers]' runs this test"


def blocks() -> list[str]:
    """The guide's code: an answer made ready, MLflow, Weights & Biases."""
    text = (ROOT / "docs/guides/trackers.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the first block leaves, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    example_interpretation().save("answer.json")
    names: dict[str, Any] = {}
    exec(blocks()[0], names)
    return names


def test_the_first_block_writes_the_page_and_each_tracker_takes_two_lines(ready) -> None:
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert set(ready["told"]) == {"formula", "verdict", "confidence"}
    assert [len(block.splitlines()) for block in blocks()[1:]] == [2, 2]


@pytest.mark.filterwarnings("ignore")  # those of the package are not ours
def test_mlflow(ready, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason=f"mlflow is {WHY}")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    with mlflow.start_run() as run:
        exec(blocks()[1], ready | {"mlflow": mlflow})
    found = mlflow.get_run(run.info.run_id)
    assert found.data.params == {name: str(value) for name, value in ready["told"].items()}
    listed = mlflow.MlflowClient().list_artifacts(run.info.run_id)
    assert [one.path for one in listed] == ["page.html"]


@pytest.mark.filterwarnings("ignore")
def test_wandb_offline(ready, tmp_path, monkeypatch) -> None:
    for name, value in {"WANDB_SILENT": "true", "WANDB_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    wandb = pytest.importorskip("wandb", reason=f"wandb is {WHY}")
    run = wandb.init(mode="offline", dir=str(tmp_path), project="closedform")
    exec(blocks()[2], ready | {"wandb": wandb, "run": run})
    summary = dict(run.summary)
    run.finish()
    told = ready["told"]
    assert {name: summary[name] for name in told} == told
    pages = list(tmp_path.glob("**/media/html/*.html"))
    assert len(pages) == 1
    assert "<!doctype html>" in pages[0].read_text(encoding="utf-8")
    assert list(tmp_path.glob("**/*.wandb"))
