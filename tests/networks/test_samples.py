import numpy as np
import pytest

from closedform.errors import ShapeError
from closedform.networks.samples import Samples

POINTS, JACOBIANS, LATENTS = np.zeros((4, 2)), np.zeros((4, 3, 2)), np.zeros((4, 3))


def test_arrays_are_read_only_copies() -> None:
    points = POINTS.copy()
    samples = Samples(points, JACOBIANS, LATENTS)

    points[0, 0] = 7.0

    assert samples.points[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        samples.jacobians[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    "arrays",
    [
        (POINTS[:3], JACOBIANS, LATENTS),
        (POINTS, JACOBIANS, LATENTS[:, :2]),
        (POINTS, JACOBIANS[:, :, :1], LATENTS),
        (POINTS, JACOBIANS[:, 0], LATENTS),
        (POINTS, JACOBIANS, LATENTS[:3]),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    with pytest.raises(ShapeError):
        Samples(*arrays)


def test_errors_and_names_must_fit() -> None:
    with pytest.raises(ShapeError, match="Errors have shape"):
        Samples(POINTS, JACOBIANS, LATENTS, errors=np.zeros((4, 3)))
    with pytest.raises(ShapeError, match="one name per input"):
        Samples(POINTS, JACOBIANS, LATENTS, names=("x",))
