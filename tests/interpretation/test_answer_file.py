"""Answers from files that others have changed."""

import json

import numpy as np
import pytest

import closedform as cf
from closedform.errors import StorageError


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    points = np.random.default_rng(0).uniform(1, 2, (200, 2))
    field = cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"])
    path = tmp_path_factory.mktemp("answers") / "answer.json"
    cf.interpret_field(field, engine="terms", budget=cf.Budget(evaluations=300), rng=0).save(path)
    return path.read_text(encoding="utf-8")


def _without_a_name(answer):
    answer["names"] = ["x"]


def _without_an_arrow(answer):
    answer["directions"]["network"].pop()


def _not_finite(answer):
    answer["front"][0]["misalignment"] = float("inf")


def _without_a_median(answer):
    answer["inputs"][0]["median"] = None


def _without_angles(answer):
    answer["alignment"]["angles"] = []


def _out_of_order(answer):
    answer["front"][-1]["complexity"] = -1


@pytest.mark.parametrize(
    "damage",
    [
        _without_a_name, _without_an_arrow, _not_finite, _without_a_median,
        _without_angles, _out_of_order,
    ],
)  # fmt: skip
def test_parts_that_do_not_go_together_are_refused(damage, content, tmp_path):
    answer = json.loads(content)
    damage(answer)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer), encoding="utf-8")
    with pytest.raises(StorageError, match=r"answer\.json"):
        cf.load_interpretation(path)
