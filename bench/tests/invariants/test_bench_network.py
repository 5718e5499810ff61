from pathlib import Path

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform_bench.invariants import network_track, pair_networks
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.control_networks import SEEDS, load_control
from closedform_bench.invariants.control_systems import CONTROL_SYSTEMS, LATENTS
from closedform_bench.invariants.laws import LAW, change_in_pairs
from closedform_bench.invariants.network_track import NetworkTask, cause, laws_among
from closedform_bench.invariants.outcome import Row
from closedform_bench.invariants.system_catalogue import SYSTEMS


def test_laws_hold_on_pairs_and_other_formulas_do_not() -> None:
    system = SYSTEMS["rock-paper-scissors"]
    pairs = system.pairs(300, np.random.default_rng(0))
    texts = ("x*y*z", "log(x) + log(y) + log(z)", "x + y + 1.01*z", "x + y", "x")
    changes = [change_in_pairs(parse(text, system.inputs), pairs) for text in texts]
    assert max(changes[:2]) < 1e-3
    assert changes[2] < LAW
    assert min(changes[3:]) > 5 * LAW


def test_a_verified_formula_that_changes_within_pairs_is_no_law() -> None:
    system = SYSTEMS["rock-paper-scissors"]
    pairs = system.pairs(300, np.random.default_rng(0))
    concepts = tuple(parse(text, system.inputs) for text in ("x*y*z", "x + y"))
    claims, changes = laws_among(Claims(concepts, (), "verified", 2, 1.0), pairs)
    assert [str(concept) for concept in claims.verified] == ["x*y*z"]
    assert len(changes) == 2
    assert "no law" in claims.others[0][1]


def row(**changes) -> Row:
    whole = Row(
        name="", dim=3, expected=[], found=[], recovered=1, of=2, false=0, seconds=0.0, seed=0,
        rank=2, verdict="", outside=[],
        unclaimed=[],
    )  # fmt: skip
    whole.update(changes)  # type: ignore[typeddict-item]
    return whole


@pytest.mark.parametrize(
    ("changes", "carried", "expected"),
    [
        ({"recovered": 2}, [0.001, 0.001], ""),
        ({"unclaimed": [{"outside": 1e-5}]}, [0.001, 0.5], "verdict refused it"),
        ({"unclaimed": [{"outside": 0.5}]}, [0.001, 0.01], "search missed it"),
        ({}, [0.001, 0.05], "field too noisy"),
        ({}, [0.001, 0.5], "network did not learn it"),
        ({"rank": 1}, [0.001, 0.01], "network did not learn it"),
    ],
)
def test_causes(changes: dict, carried: list[float], expected: str) -> None:
    assert cause(row(**changes), carried) == expected


def test_a_system_is_trained_once_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_track, "N_POINTS", 300)
    monkeypatch.setattr(network_track, "N_TEST", 100)
    monkeypatch.setattr(pair_networks, "N_PAIRS", 400)
    monkeypatch.setattr(
        network_track,
        "training_options",
        lambda latents: pair_networks.training_options(latents, 1, (8,)),
    )
    claimed = Claims((parse("x + y + z"), parse("x", ["x", "y", "z"])), (), "verified", 2, 1.0)
    fields = []

    def read(field, budget, seed):
        fields.append(field)
        return claimed

    task = NetworkTask(tmp_path, 1.0, 0, read)
    first, again = (
        task.run(SYSTEMS["rock-paper-scissors"]),
        task.run(SYSTEMS["rock-paper-scissors"]),
    )
    assert first == again
    assert np.array_equal(fields[0].directions, fields[1].directions)
    assert [file.name for file in tmp_path.iterdir()] == ["rock-paper-scissors_0.safetensors"]
    assert (first["recovered"], first["false"], first["found"]) == (1, 0, ["x + y + z"])
    assert "carried" in first
    assert len(first["carried"]) == 2


def test_networks_of_all_controls_are_shipped() -> None:
    for name, system in CONTROL_SYSTEMS.items():
        for seed in SEEDS:
            module = load_control(name, seed)
            assert (module[0].in_features, module[-1].out_features) == (
                len(system.inputs),
                LATENTS[name],
            )


def test_what_controls_conserve_is_conserved() -> None:
    for system in CONTROL_SYSTEMS.values():
        pairs = system.pairs(20, np.random.default_rng(0))
        for truth in system.truths():
            values = truth(pairs.reshape(-1, len(system.inputs))).reshape(-1, 2)
            assert np.abs(values[:, 0] - values[:, 1]).max() < 1e-6
