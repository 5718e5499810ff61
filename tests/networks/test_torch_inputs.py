import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

from closedform.errors import ExtractionError
from closedform.networks.options import transformed
from closedform.networks.torch_source import fixed_arguments
from closedform.networks.torch_state import affine_map, as_tensor, transform_for

POINTS = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + 5.0
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        MinMaxScaler(),
        RobustScaler(),
        PCA(2, whiten=True),
        make_pipeline(StandardScaler(), PCA(2)),
    ],
)
def test_fitted_scalers_become_affine_maps(scaler: object) -> None:
    scaler.fit(POINTS)  # pyright: ignore[reportAttributeAccessIssue]
    matrix, offset = affine_map(scaler)

    expected = scaler.transform(POINTS)  # pyright: ignore[reportAttributeAccessIssue]
    np.testing.assert_allclose(POINTS @ matrix + offset, expected, rtol=1e-9, atol=1e-9)


def test_what_is_not_affine_or_not_fitted_is_refused() -> None:
    with pytest.raises(ExtractionError, match="not affine"):
        affine_map(PolynomialFeatures(2).fit(POINTS))
    with pytest.raises(ExtractionError, match="not fitted"):
        affine_map(StandardScaler())
    with pytest.raises(ExtractionError, match="neither a function nor a fitted scaler"):
        transform_for(3.0, torch.float64, CPU)


def test_modules_in_front_are_copied_for_another_type_and_used_as_they_are_otherwise() -> None:
    module = torch.nn.Linear(3, 3)

    assert transform_for(module, torch.float32, CPU) is module
    assert transform_for(module, torch.float64, CPU).weight.dtype == torch.float64
    assert module.weight.dtype == torch.float32


def test_transforms_return_a_tensor_a_tuple_or_a_dictionary() -> None:
    x, t = torch.ones(2, 1), torch.zeros(2, 1)

    assert list(transformed(lambda x, t: x + t, {0: x, 1: t})) == [0]
    assert list(transformed(lambda x, t: (x, t, x), {0: x, 1: t})) == [0, 1, 2]
    assert list(transformed(lambda x: {"position": x}, {0: x})) == ["position"]
    assert list(transformed(lambda x: x, {"x": x})) == ["x"]
    assert transformed(None, {0: x})[0] is x


def test_integers_keep_their_type_and_read_only_arrays_are_copied() -> None:
    frozen = np.zeros(3)
    frozen.flags.writeable = False

    assert as_tensor(np.arange(3), torch.float64, CPU).dtype == torch.int64
    assert as_tensor(frozen, torch.float32, CPU).dtype == torch.float32


def test_fixed_arguments_may_depend_on_the_batch() -> None:
    fixed = fixed_arguments(
        {"time": lambda count: np.full(count, 0.5), "flag": True, 1: np.ones(2)},
        4,
        torch.float32,
        CPU,
    )

    assert fixed["flag"] is True
    assert fixed[1].dtype == torch.float32
    assert fixed_arguments(None, 4, torch.float32, CPU) == {}
    assert fixed["time"].shape == (4,)
