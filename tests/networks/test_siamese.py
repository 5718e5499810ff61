import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from typer.testing import CliRunner

from closedform.basics.progress import Snapshot
from closedform.cli.app import app
from closedform.errors import ModelFileError, ShapeError, TrainingError
from closedform.networks.siamese import (
    SiameseOptions,
    TrainedSiamese,
    build_from_file,
    load_siamese,
    mean_triplet_loss,
    train_siamese,
)
from closedform.networks.siamese_training import contrast_loss, triplet_loss

SMALL = SiameseOptions(hidden=(16, 16), activation="elu", epochs=6, learning_rate=5e-3)


def circles(n: int, seed: int = 0) -> np.ndarray:
    """Points on circles around the origin: anchor and positive on one, the negative on another."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, (n, 3))
    radius = rng.uniform(0.5, 1.5, (n, 2))[:, [0, 0, 1]]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)


def same(first: TrainedSiamese, second: TrainedSiamese) -> bool:
    pairs = zip(
        first.module.state_dict().values(), second.module.state_dict().values(), strict=True
    )
    return first.history == second.history and all(torch.equal(a, b) for a, b in pairs)


class Interrupt:
    """Presses Ctrl-C after some epochs."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.seen: list[Snapshot] = []
        self.closed = False

    def show(self, snapshot: Snapshot) -> None:
        self.seen.append(snapshot)
        if len(self.seen) == self.after:
            signal.raise_signal(signal.SIGINT)

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints and progress after every epoch."""
    monkeypatch.setattr("closedform.networks.siamese_training._SAVE_EVERY", 0.0)
    monkeypatch.setattr("closedform.networks.siamese_training._SHOW_EVERY", 0.0)


def test_loss_is_the_papers() -> None:
    latents = torch.tensor(
        [[[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5]]]
    )

    assert float(triplet_loss(latents, 1.0)) == pytest.approx((0.0 + (1 - 1.25 + 1)) / 2)
    assert float(triplet_loss(latents, 8.0)) == pytest.approx(((2 - 9 + 8) + (1 - 1.25 + 8)) / 2)


def test_latents_learn_what_anchor_and_positive_share() -> None:
    options = replace(SMALL, hidden=(32, 32), epochs=15, schedule="cycle", learning_rate=1e-2)
    trained = train_siamese(circles(4000), options, validation=circles(500, 1), rng=0)

    points = circles(500, 2)[:, 0]
    latent = trained.module(torch.tensor(points, dtype=torch.float32)).detach().numpy()[:, 0]
    radius = pd.Series(np.linalg.norm(points, axis=1))
    assert abs(pd.Series(latent).corr(radius, method="spearman")) > 0.99
    assert mean_triplet_loss(trained.module, circles(500, 3)) < 0.2


@pytest.mark.parametrize("schedule", ["plateau", "cycle"])
def test_resuming_changes_no_bit(tmp_path: Path, schedule: Any) -> None:
    options = replace(SMALL, schedule=schedule, patience=1, standardize=True)
    arguments: dict[str, Any] = {"validation": circles(100, 1), "rng": 5}
    whole = train_siamese(circles(600), options, **arguments)
    file = tmp_path / "state"
    progress = Interrupt(after=3)

    broken = train_siamese(circles(600), options, checkpoint=file, progress=progress, **arguments)
    resumed = train_siamese(circles(600), options, checkpoint=file, **arguments)
    again = train_siamese(circles(600), options, checkpoint=file, **arguments)

    assert broken.status == "interrupted"
    assert len(broken.history) == 3
    assert progress.closed
    assert resumed.status == "finished"
    assert same(whole, resumed)
    assert same(whole, again)
    assert not same(whole, train_siamese(circles(600), options, validation=circles(100, 1), rng=6))


def test_ctrl_c_gives_the_best_so_far() -> None:
    whole = train_siamese(circles(300), replace(SMALL, epochs=4), rng=0)

    broken = train_siamese(circles(300), SMALL, rng=0, progress=Interrupt(after=4))

    assert broken.history == whole.history
    assert broken.best_epoch == int(np.argmin([epoch.loss for epoch in broken.history]))
    assert same(broken, whole)


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state"
    train_siamese(circles(100), SMALL, rng=0, checkpoint=file)

    for triplets, options, seed in (
        (circles(101), SMALL, 0),
        (circles(100), replace(SMALL, margin=2.0), 0),
        (circles(100), SMALL, 1),
    ):
        with pytest.raises(TrainingError, match="other options, triplets or seed"):
            train_siamese(triplets, options, rng=seed, checkpoint=file)
    assert (
        len(train_siamese(circles(100), SMALL, rng=1, checkpoint=file, resume=False).history) == 6
    )
    file.write_text("no checkpoint")
    with pytest.raises(TrainingError, match="is not a training checkpoint"):
        train_siamese(circles(100), SMALL, rng=0, checkpoint=file)


def test_training_stops_early() -> None:
    options = replace(SMALL, epochs=200, learning_rate=1e-8, stop_after=2)
    trained = train_siamese(circles(50), options, validation=circles(50, 1), rng=0)

    assert trained.status == "stopped"
    assert len(trained.history) - 1 - trained.best_epoch == 2


def test_a_plateau_lowers_the_learning_rate() -> None:
    options = replace(SMALL, epochs=8, learning_rate=1e-6, patience=2, factor=0.1)
    trained = train_siamese(circles(50), options, rng=0)

    # The first epoch sets the mark, and the third after it without a better loss is one too many.
    assert [epoch.learning_rate for epoch in trained.history] == pytest.approx(
        [1e-6] * 4 + [1e-7] * 3 + [1e-8]
    )


def test_progress_tells_the_time_left() -> None:
    progress = Interrupt(after=99)
    train_siamese(circles(300), SMALL, rng=0, progress=progress)

    assert [snapshot.done for snapshot in progress.seen] == pytest.approx(
        [i / 6 for i in range(1, 7)]
    )
    left = [snapshot.seconds_left for snapshot in progress.seen]
    assert left[-1] == 0
    assert all(seconds is not None and seconds > 0 for seconds in left[:-1])


def test_standardized_training_takes_inputs_as_they_are() -> None:
    wide = circles(1000) * [1000.0, 0.01] + [500.0, -3.0]
    options = replace(SMALL, standardize=True, epochs=25, batch_size=64, learning_rate=1e-2)
    trained = train_siamese(wide, options, validation=wide[:200], rng=0)

    assert trained.history[trained.best_epoch].loss == pytest.approx(
        mean_triplet_loss(trained.module, wide[:200]), rel=1e-3
    )
    assert trained.history[trained.best_epoch].loss < 0.5
    constant = np.concatenate([circles(100), np.full((100, 3, 1), 7.0)], axis=2)
    assert np.isfinite(
        train_siamese(constant, replace(SMALL, standardize=True), rng=0).history[-1].loss
    )


def test_settings_of_torch_are_left_alone() -> None:
    tiny = torch.finfo(torch.float32).tiny
    for flushed in (False, True):
        torch.set_flush_denormal(flushed)
        try:
            state = torch.random.get_rng_state()
            train_siamese(circles(50), replace(SMALL, epochs=1), rng=0)
            assert torch.equal(torch.random.get_rng_state(), state)
            assert bool((torch.tensor([tiny]) * 0.5 == 0).item()) is flushed
        finally:
            torch.set_flush_denormal(False)


@pytest.mark.parametrize(
    ("triplets", "error", "reason"),
    [
        (np.zeros((10, 2, 3)), ShapeError, r"\(10, 2, 3\)"),
        (np.zeros((10, 3)), ShapeError, "n_triplets, 3, n_inputs"),
        (np.zeros((0, 3, 2)), ShapeError, "n_triplets"),
        (
            np.where(np.arange(10)[:, None, None] == 4, np.nan, np.zeros((10, 3, 2))),
            TrainingError,
            "1 triplets.*first at 4",
        ),
    ],
)
def test_triplets_of_another_form_are_refused(
    triplets: Any, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        train_siamese(triplets, SMALL, rng=0)


def test_other_mistakes_are_named() -> None:
    with pytest.raises(ShapeError, match="2 inputs, validation 3"):
        train_siamese(circles(10), SMALL, validation=np.zeros((5, 3, 3)))
    with pytest.raises(TrainingError, match="lower the learning rate"):
        train_siamese(circles(50) * 1e30, SMALL, rng=0)
    for wrong in (
        {"activation": "tanh"},
        {"epochs": 0},
        {"hidden": (8, 0)},
        {"learning_rate": 0.0},
        {"schedule": "step"},
    ):
        with pytest.raises(TrainingError):
            SiameseOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("precision", ["single", "half"])
def test_saved_networks_come_back(tmp_path: Path, precision: Any) -> None:
    trained = train_siamese(circles(100), replace(SMALL, latents=2), rng=0)
    file = tmp_path / "net.safetensors"

    trained.save(file, precision=precision)
    loaded = load_siamese(file)

    points = torch.tensor(circles(20)[:, 0], dtype=torch.float32)
    torch.testing.assert_close(
        loaded(points), trained.module(points), rtol=0, atol=0 if precision == "single" else 2e-2
    )
    with safe_open(str(file), framework="pt") as opened:
        assert '"activation": "elu"' in opened.metadata()["closedform_siamese"]


def test_the_command_line_reads_a_saved_network(tmp_path: Path) -> None:
    trained = train_siamese(circles(100), SMALL, rng=0)
    trained.save(tmp_path / "net.safetensors")
    np.savez(tmp_path / "data.npz", inputs=circles(50)[:, 0], names=["x", "y"])
    words = [
        "extract",
        str(tmp_path / "net.safetensors"),
        str(tmp_path / "data.npz"),
        "--neuron",
        "latent:0",
    ]
    words += [
        "--builder",
        "closedform.networks.siamese:build_from_file",
        "--out",
        str(tmp_path / "field.npz"),
    ]

    result = CliRunner().invoke(app, words)

    assert result.exit_code == 0, result.output
    assert "50 points, 2 inputs, rank 1" in result.output


def test_other_files_are_no_siamese_networks(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"weight": torch.zeros(2)}, str(tmp_path / "other.safetensors"))
    (tmp_path / "text.safetensors").write_text("no weights")

    for name in ("other.safetensors", "text.safetensors", "absent.safetensors"):
        with pytest.raises(ModelFileError, match=name):
            build_from_file(tmp_path / name)


def test_without_torch_the_message_is_the_pip_line() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport closedform.networks.siamese"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert "pip install 'closedform[torch]'" in result.stderr


def test_contrast_prefers_latents_that_know_independent_things():
    generator = torch.Generator().manual_seed(0)
    shared = torch.rand((256, 1, 2), generator=generator)
    others = torch.rand((256, 1, 2), generator=generator)
    both = torch.cat([shared, shared, others], dim=1)
    one = both[:, :, :1].expand(-1, -1, 2)
    nothing = torch.rand((256, 3, 2), generator=generator)
    assert contrast_loss(both) < contrast_loss(one) - 0.5
    assert contrast_loss(one) < contrast_loss(nothing)


def test_contrast_does_not_depend_on_the_scale_of_a_latent():
    latents = torch.rand((64, 3, 2), generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        contrast_loss(latents),
        contrast_loss(latents * torch.tensor([1.0, 30.0])),
        rtol=1e-3,
        atol=1e-3,
    )


def test_latents_trained_by_contrast_have_spread_one():
    data = circles(400)
    trained = train_siamese(data, replace(SMALL, loss="contrast", latents=2, batch_size=64), rng=0)
    with torch.no_grad():
        spread = trained.module(torch.tensor(data[:, 0], dtype=torch.float32)).std(0)
    torch.testing.assert_close(spread, torch.ones(2), rtol=1e-4, atol=1e-4)


def test_a_finer_resolution_at_the_end_changes_the_training_and_keeps_the_last_epoch():
    data = circles(400)
    coarse = replace(SMALL, loss="contrast", batch_size=64, resolution=0.5)
    falling = replace(coarse, final_resolution=0.05)
    assert [falling.resolution_in(epoch) for epoch in (0, falling.epochs - 1)] == pytest.approx(
        [0.5, 0.05]
    )
    first, second = (train_siamese(data, options, rng=0) for options in (coarse, falling))
    assert first.history[0] == second.history[0]
    assert first.history[1] != second.history[1]
    assert second.best_epoch == falling.epochs - 1


def test_a_final_resolution_must_be_positive():
    with pytest.raises(TrainingError, match="final_resolution is 0"):
        replace(SMALL, final_resolution=0.0)
