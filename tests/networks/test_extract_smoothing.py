import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExtractionError, NetworkError

torch = pytest.importorskip("torch")


def rectified():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))


def test_smoothing_is_seeded_noted_and_changes_directions_a_little():
    points = np.random.default_rng(0).normal(size=(400, 2))
    raw = cf.extract_field(rectified(), points, "output:0", rng=3)
    smooth, again = (
        cf.extract_field(rectified(), points, "output:0", rng=3, smoothing=0.03) for _ in range(2)
    )
    np.testing.assert_array_equal(smooth.directions, again.directions)
    cosines = np.abs(np.einsum("nd,nd->n", raw.directions[:, :, 0], smooth.directions[:, :, 0]))
    assert 0.9 < cosines.mean() < 1 - 1e-6
    assert any("Gaussian ball" in note for note in smooth.notes)
    assert not any("Gaussian ball" in note for note in raw.notes)


def test_draws_stay_inside_the_tangent_space():
    """The network kinks across the plane of the data; a draw that left it would see the kink."""
    points = np.random.default_rng(0).normal(size=(300, 3))
    points[:, 2] = 0.0

    def model(x):
        return x[:, 0] + 2 * x[:, 1] + 100 * np.abs(x[:, 2]) * x[:, 0]

    field = cf.extract_field(model, points, 0, smoothing=0.05, rng=0, tangent="linear")
    expected = np.array([1.0, 2.0, 0.0]) / np.sqrt(5)
    np.testing.assert_allclose(np.abs(field.directions[:, :, 0] @ expected), 1.0, atol=1e-5)


def test_the_radius_is_limited():
    """The network was read first, and the command line asked for a bug report."""

    def never(x):
        raise AssertionError("The amount is checked before the network is read.")

    with pytest.raises(ExtractionError, match=r"smoothing is 0\.2; .* to 0\.05\."):
        cf.extract_field(never, np.ones((50, 2)), 0, smoothing=0.2)


def test_a_network_that_cannot_take_the_inputs_is_told():
    with pytest.raises(
        NetworkError, match=r"inputs of shape \(50, 3\).*Check the number of inputs"
    ):
        cf.extract_field(rectified(), np.ones((50, 3)), "output:0")
