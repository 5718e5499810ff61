import ast
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from closedform.expressions.constraint import parse_constraint
from closedform.expressions.parse import parse
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS

N = 2000


@pytest.fixture(scope="module", params=list(EXPERIMENTS))
def number(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def triplets(number: int) -> np.ndarray:
    return EXPERIMENTS[number].split("test", N, seed=0)


def test_positives_share_the_invariant_and_negatives_do_not(
    number: int, triplets: np.ndarray
) -> None:
    concept = parse(ANSWERS[number].expression, EXPERIMENTS[number].inputs)
    anchor, positive, negative = (concept(triplets[:, i]) for i in range(3))

    assert triplets.shape == (N, 3, len(EXPERIMENTS[number].inputs))
    np.testing.assert_allclose(positive, anchor, atol=1e-8, rtol=0)
    assert np.median(np.abs(negative - anchor)) > 0.2 * anchor.std()
    # Positives are other points than their anchors.
    assert (np.linalg.norm(triplets[:, 1] - triplets[:, 0], axis=1) > 1e-3).mean() > 0.99


def test_what_is_held_holds_everywhere(number: int, triplets: np.ndarray) -> None:
    for constraint in EXPERIMENTS[number].held:
        parsed = parse_constraint(constraint, EXPERIMENTS[number].inputs)
        assert parsed.is_equation
        for member in range(3):
            assert np.abs(parsed.function(triplets[:, member])).max() < 1e-8


def test_anchors_and_negatives_come_from_the_same_distribution(triplets: np.ndarray) -> None:
    error = triplets[:, 0].std(axis=0).max() / np.sqrt(N)
    difference = np.abs(triplets[:, 0].mean(axis=0) - triplets[:, 2].mean(axis=0))

    assert (difference < 8 * error).all()


def test_entries_stay_moderate(triplets: np.ndarray) -> None:
    """Changes of basis near to singular ones and orbits near to the centre would make outliers."""
    assert np.abs(triplets).max() < 60


def test_seeds_and_splits(number: int) -> None:
    first, again, other = (EXPERIMENTS[number].split("test", 50, seed=seed) for seed in (3, 3, 4))

    assert np.array_equal(first, again)
    assert not np.isclose(first, other).all()
    assert not np.isclose(first, EXPERIMENTS[number].split("training", 50, seed=3)).all()


def test_fields_have_a_second_invariant_that_is_held() -> None:
    """Without the constraint one latent could learn any mixture of the two."""
    fields = EXPERIMENTS[6].split("test", N, seed=1)
    squares = (fields[..., :3] ** 2).sum(2) - (fields[..., 3:] ** 2).sum(2)

    assert np.abs(squares).max() < 1e-10
    assert (fields[:, 0] > 0).all()


def test_orbits_share_neither_direction_nor_another_energy() -> None:
    orbits = EXPERIMENTS[11].split("test", N, seed=1)
    position, velocity = orbits[..., :2], orbits[..., 2:]
    momentum = position[..., 0] * velocity[..., 1] - position[..., 1] * velocity[..., 0]
    pericentre = momentum[..., None] * velocity[..., ::-1] * [1, -1] - position / np.linalg.norm(
        position, axis=2, keepdims=True
    )
    angle = np.arctan2(pericentre[..., 1], pericentre[..., 0])
    difference = np.angle(np.exp(1j * (angle[:, 1] - angle[:, 0])))

    # Uniform on the circle: the mean of the unit vectors vanishes.
    assert abs(np.exp(1j * difference).mean()) < 4 / np.sqrt(N)
    assert np.linalg.norm(position, axis=2).min() >= 0.2
    assert np.linalg.norm(position, axis=2).max() <= 2


def test_only_scoring_knows_the_answers() -> None:
    roots = [Path(str(files(package))) for package in ("closedform", "closedform_bench")]
    knowing = {
        str(file.relative_to(root))
        for root in roots
        for file in root.rglob("*.py")
        if file.name != "answers.py" and _imports_answers(ast.parse(file.read_text()))
    }

    assert knowing == {"paper/assess.py", "paper/answer_scoring.py"}


def _imports_answers(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any("answers" in alias.name for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
            if any("answers" in name.lower().split(".") for name in names):
                return True
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "paper.answers" in node.value
        ):
            return True
    return False
