import json
import signal
import sys
from pathlib import Path

import pytest

from closedform.basics.progress import Snapshot
from closedform.errors import TrainingError
from closedform.networks.siamese import SiameseOptions, load_siamese
from closedform_bench.paper import train
from closedform_bench.paper.assess import assess_directory
from closedform_bench.paper.profiles import Profile, get_profile

TINY = Profile(
    2000,
    50,
    50,
    SiameseOptions(
        hidden=(16,),
        epochs=10,
        activation="elu",
        batch_size=64,
        learning_rate=1e-2,
        schedule="cycle",
    ),
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "get_profile", lambda name, number: TINY)
    monkeypatch.setattr("closedform.networks.siamese_training._SAVE_EVERY", 0.0)
    monkeypatch.setattr("closedform.networks.siamese_training._SHOW_EVERY", 0.0)


class Impatient:
    """Presses Ctrl-C after two epochs."""

    shown = 0

    def show(self, snapshot: Snapshot) -> None:
        self.shown += 1
        if self.shown == 2:
            signal.raise_signal(signal.SIGINT)

    def close(self) -> None:
        pass


def test_an_interrupted_training_goes_on(tmp_path: Path) -> None:
    train.train_into(tmp_path / "whole", 7, "quick", seed=1)
    with pytest.raises(KeyboardInterrupt):
        train.train_into(tmp_path / "broken", 7, "quick", seed=1, progress=Impatient())
    assert [file.name for file in (tmp_path / "broken").iterdir()] == ["experiment_07.checkpoint"]

    train.train_into(tmp_path / "broken", 7, "quick", seed=1)

    whole, broken = (
        (tmp_path / name / "experiment_07.safetensors").read_bytes() for name in ("whole", "broken")
    )
    assert whole == broken
    assert sorted(file.name for file in (tmp_path / "broken").iterdir()) == [
        "experiment_07.json",
        "experiment_07.safetensors",
    ]


def test_networks_of_another_profile_are_not_taken(tmp_path: Path) -> None:
    train.train_into(tmp_path, 1, "quick")
    train.train_into(tmp_path, 1, "quick")

    with pytest.raises(TrainingError, match="'quick' and seed 0"):
        train.train_into(tmp_path, 1, "paper")
    with pytest.raises(TrainingError, match="'quick' and seed 0"):
        train.train_into(tmp_path, 1, "quick", seed=1)


def test_the_command_trains_and_assessment_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["train", "--out", str(tmp_path), "1", "3"])
    train.main()
    assess_directory(tmp_path)

    records = json.loads((tmp_path / "networks.json").read_text())
    assert [record["number"] for record in records] == [1, 3]
    for record in records:
        assert 0 < record["misalignment_trimmed"] < record["misalignment"] < 1e-2
        assert abs(record["spearman"]) > 0.99
        assert record["epochs"] == 10
        assert 0 < record["test_loss"] < 0.5
    assert load_siamese(tmp_path / "experiment_03.safetensors").get_submodule(
        "hidden1"
    ).weight.shape == (16, 9)


def test_the_papers_table() -> None:
    """Epochs and factors of the paper's table of hyperparameters; the rest is the same for all."""
    epochs = [100, 300, 100, 100, 300, 300, 300, 300, 300, 300, 300, 300]
    factors = [0.2] * 5 + [0.5] * 7
    for number in range(1, 13):
        profile = get_profile("paper", number)
        options = profile.options
        assert (profile.n_training, profile.n_validation, profile.n_test) == (50_000, 5_000, 10_000)
        assert (options.epochs, options.factor) == (epochs[number - 1], factors[number - 1])
        assert (options.learning_rate, options.weight_decay, options.batch_size) == (
            1e-3,
            1e-4,
            256,
        )
        assert (options.hidden, options.activation, options.latents) == ((256, 256), "relu", 1)
        assert (options.schedule, options.patience, options.margin) == ("plateau", 10, 1.0)
        assert not options.standardize
        assert options.stop_after == 80
