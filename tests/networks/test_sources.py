import subprocess
import sys
from typing import Any

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression

from closedform.networks.extract import extract_samples, open_source

POINTS = np.random.default_rng(0).normal(size=(12, 2))


def squares(x: Any) -> Any:
    return x[:, 0] ** 2 + x[:, 1]


@pytest.mark.parametrize(
    ("model", "inputs", "kind"),
    [
        (torch.nn.Linear(2, 1), POINTS, "TorchSource"),
        (squares, torch.tensor(POINTS), "TorchSource"),
        (lambda x: torch.sum(x, dim=1), POINTS, "TorchSource"),
        (squares, POINTS, "FunctionSource"),
        (lambda point: point[0] * float(point[1]), POINTS, "FunctionSource"),
        (LinearRegression().fit(POINTS, POINTS[:, 0]), POINTS, "FunctionSource"),
        (squares, jnp.asarray(POINTS), "JaxSource"),
        (lambda x: jnp.sum(x, axis=1), POINTS, "JaxSource"),
        (jax.jit(squares), POINTS, "JaxSource"),
        (equinox.nn.Linear(2, 1, key=jax.random.key(0)), POINTS, "JaxSource"),
    ],
)
def test_the_framework_is_told_by_the_model_or_by_what_it_returns(
    model: Any, inputs: Any, kind: str
) -> None:
    assert type(open_source(model, inputs, 0)).__name__ == kind


def test_the_kind_can_be_stated() -> None:
    found = extract_samples(squares, POINTS, 0, kind="jax")

    np.testing.assert_allclose(found.jacobians[:, 0, 0], 2 * POINTS[:, 0], rtol=1e-12)
    assert found.errors is None


def test_the_same_seed_gives_the_same_samples_bit_for_bit() -> None:
    model = torch.nn.Linear(2, 1)
    points = np.random.default_rng(0).normal(size=(500, 2))

    first, again = (extract_samples(model, points, 0, max_points=50, rng=3) for _ in range(2))

    assert first.points.tobytes() == again.points.tobytes()
    assert first.jacobians.tobytes() == again.jacobians.tobytes()


def test_neither_torch_nor_jax_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, numpy as np, closedform, closedform.networks.extract as s, "
        "closedform.networks.model_files\n"
        "s.extract_samples(lambda x: x[:, 0], np.ones((3, 2)), 0)\n"
        "print([name for name in ('torch', 'jax', 'flax', 'equinox', 'sklearn') if name in "
        "sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == "[]"
