from importlib.resources import files
from pathlib import Path

import pytest

from closedform_bench.paper.assess import assess
from closedform_bench.paper.shipped import SEED, checkpoint_records, load_checkpoint

RECORDS = checkpoint_records()
FOLDER = Path(str(files("closedform_bench.paper"))) / "checkpoints"


ALWAYS = (1, 9, 12)
"""Networks that are assessed in every run: a matrix, a motion and spacetime."""


@pytest.mark.parametrize(
    "number",
    [
        number if number in ALWAYS else pytest.param(number, marks=pytest.mark.slow)
        for number in RECORDS
    ],
)
def test_networks_carry_their_concepts(number: int) -> None:
    found = assess(number, load_checkpoint(number), seed=SEED)

    for key in (
        "misalignment",
        "misalignment_trimmed",
        "misalignment_without_tangent",
        "misalignment_smoothed",
        "spearman",
    ):
        assert found[key] == pytest.approx(RECORDS[number][key], rel=1e-2), key
    assert found["misalignment"] < 2e-2
    assert abs(found["spearman"]) > 0.99


def test_files_are_small_and_recorded() -> None:
    networks = sorted(FOLDER.glob("*.safetensors"))

    assert [int(file.stem[-2:]) for file in networks] == list(RECORDS)
    assert all(file.stat().st_size < 400_000 for file in networks)
    assert all(
        record["profile"] == "paper" and record["seed"] == SEED for record in RECORDS.values()
    )
