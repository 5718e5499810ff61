"""Each kind trains for a few steps and can be read; what is drawn depends on the seed alone."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas.problem import Problem
from closedform_bench.unfamiliar.drawing import KINDS, N_NETWORKS, draw_networks
from closedform_bench.unfamiliar.material import material_of
from closedform_bench.unfamiliar.reading import carried_and_wrong, table

PROBLEM = Problem("energy", "x**2 + y**2", {"x": (1.0, 2.0), "y": (1.0, 2.0)})
FEW = 300
COMPILED = ("Equinox",)
"""Kinds whose first step is compiled for ten seconds."""


@pytest.mark.filterwarnings("ignore:The optimal value found")  # of a noise that is not there
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind in COMPILED else []) for kind in KINDS],
)
def test_a_kind_begins_to_learn(kind):
    if kind == "Equinox":
        pytest.importorskip("equinox")
    if kind == "GP pipeline":
        pytest.importorskip("sklearn")
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    whole = material_of(PROBLEM, "tanh(g)", rng)
    few = replace(
        whole, points=whole.points[:FEW], targets=whole.targets[:FEW], held=whole.held[:50],
        steps=200,
    )  # fmt: skip
    trained = KINDS[kind](few, rng)
    field = cf.extract_field(
        trained.model, trained.inputs, trained.neuron, names=["x", "y"], rng=0, **trained.asked
    )
    assert field.points.shape == (50, 2)
    misaligned = float(field_misalignment(PROBLEM.formula(), field).mean())
    assert misaligned < 0.25, "a random direction has 0.5"


def test_what_is_drawn_follows_from_the_seed():
    networks = draw_networks(3)
    problems = [one.problem for one in networks]
    assert problems == [one.problem for one in draw_networks(3)]
    assert len({problem.truth for problem in problems if problem is not None}) > 20
    assert set(Counter(one.kind for one in networks[:N_NETWORKS]).values()) == {2, 3}
    assert [one.problem for one in networks[N_NETWORKS:]] == [None] * 6


def test_the_table_counts_what_is_carried_right_and_verified():
    row = {
        "kind": "GRU", "suite": "random", "truth": "x", "status": "verified", "right": True,
        "carried": 1e-3, "left": 0.1, "in_vocabulary": True,
    }  # fmt: skip
    lost = row | {"carried": 0.1, "status": "none", "right": False}
    refused = {"kind": "GRU", "suite": "forms", "truth": "x", "status": "refused", "right": False}
    control = row | {"truth": None, "status": "none", "right": None}
    told = table([row, row | {"right": False}, lost, refused, control])
    assert "| GRU | 4 | 2 | 1 | 2 | 1 |" in told
    assert "right, of verified: 1 of 2" in told
    assert "controls verified: 0 of 1" in told
    missed = row | {"truth": "y", "right": False}
    assert carried_and_wrong([row, missed, lost, refused, control]) == {"y"}
