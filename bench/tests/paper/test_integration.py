import numpy as np
import pytest

from closedform_bench.paper.dynamics import exponential, harmonic, kepler, quartic, sine
from closedform_bench.paper.integration import integrate


def plane_energy(state: np.ndarray) -> np.ndarray:
    return (state[:, 2:] ** 2).sum(1) / 2 - 1 / np.linalg.norm(state[:, :2], axis=1)


ENERGIES = {
    harmonic: lambda y: y[:, 1] ** 2 / 2 + y[:, 0] ** 2 / 2,
    quartic: lambda y: y[:, 1] ** 2 / 2 + y[:, 0] ** 2 / 2 + y[:, 0] ** 4 / 4,
    sine: lambda y: y[:, 1] ** 2 / 2 + np.sin(y[:, 0]),
    exponential: lambda y: y[:, 1] ** 2 / 2 + y[:, 0] ** 2 / 2 + np.exp(y[:, 0] + 1),
}


@pytest.mark.parametrize("motion", ENERGIES)
def test_energy_is_conserved(motion) -> None:
    rng = np.random.default_rng(0)
    start, duration = rng.uniform(0, 1, (3000, 2)), rng.uniform(0, 5, 3000)

    end = integrate(motion, start, duration)

    np.testing.assert_allclose(ENERGIES[motion](end), ENERGIES[motion](start), atol=1e-9, rtol=0)


def test_harmonic_motion_is_exact() -> None:
    duration = np.linspace(0, 5, 50)

    end = integrate(harmonic, np.tile([0.3, 0.8], (50, 1)), duration)

    expected = [
        0.3 * np.cos(duration) + 0.8 * np.sin(duration),
        0.8 * np.cos(duration) - 0.3 * np.sin(duration),
    ]
    np.testing.assert_allclose(end.T, expected, atol=1e-10)


def test_close_encounters_keep_energy_and_angular_momentum() -> None:
    """Nearly radial orbits pass the centre at a distance of 1e-5; each trajectory has its own
    steps.
    """
    start = np.array([[1.0, 0.0, 0.0, tangential] for tangential in (0.005, 0.05, 0.5, 1.0)])

    end = integrate(kepler, start, np.full(4, 5.0))

    np.testing.assert_allclose(plane_energy(end), plane_energy(start), atol=1e-7)
    momentum = end[:, 0] * end[:, 3] - end[:, 1] * end[:, 2]
    np.testing.assert_allclose(momentum, start[:, 3], atol=1e-9)


def test_nothing_moves_in_no_time() -> None:
    start = np.random.default_rng(0).uniform(0, 1, (5, 2))

    assert np.array_equal(integrate(quartic, start, np.zeros(5)), start)


def test_a_fall_into_the_centre_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's table has V = -1/r^2, from which these starts fall into the centre."""
    monkeypatch.setattr("closedform_bench.paper.integration.MOST_STEPS", 300)

    def inverse_square(state: np.ndarray) -> np.ndarray:
        position, velocity = state[:, :2], state[:, 2:]
        return np.concatenate(
            [velocity, -2 * position / np.linalg.norm(position, axis=1, keepdims=True) ** 4], axis=1
        )

    with pytest.raises(RuntimeError, match="fall into a centre"):
        integrate(inverse_square, np.array([[0.5, 0.5, 0.3, 0.4]]), np.array([5.0]))
