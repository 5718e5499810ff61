import io
from typing import Any

import pytest
import torch
from torch import nn

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.tensors import check_extent, read_tensors

TYPES = [
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64, torch.complex128,
    torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


def stored(value: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def as_raw(tensor: torch.Tensor) -> list[int]:
    return tensor.detach().contiguous().view(-1).view(torch.uint8).tolist()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tensors_of_every_type_are_read_as_torch_reads_them(dtype: torch.dtype) -> None:
    tensor = (torch.arange(12) * 7 % 5).reshape(3, 4).to(torch.float32).to(dtype)

    found = read_tensors(stored({"a": tensor}), name="x")["a"]

    assert found.dtype == dtype
    assert found.shape == (3, 4)
    assert as_raw(found) == as_raw(tensor)


def test_views_parameters_and_empty_tensors() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    value = {
        "view": base.T[1:3],
        "same": base,
        "parameter": nn.Parameter(torch.ones(2)),
        "frozen": nn.Parameter(torch.ones(2), requires_grad=False),
        "empty": torch.empty(0, 3),
        "number": torch.tensor(2.5),
    }
    found = read_tensors(stored(value), name="x")

    for name, tensor in value.items():
        assert torch.equal(found[name], tensor), name
        assert found[name].shape == tensor.shape
    assert isinstance(found["parameter"], nn.Parameter)
    assert found["parameter"].requires_grad
    assert not found["frozen"].requires_grad
    assert found["view"].untyped_storage().data_ptr() == found["same"].untyped_storage().data_ptr()


def test_what_training_loops_save_beside_weights() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    value = {
        "epoch": 3,
        "loss": 0.5,
        "name": "x",
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }

    found = read_tensors(stored(value), name="x")

    assert found["epoch"] == 3
    assert list(found["model"]) == list(model.state_dict())
    assert found["optimizer"]["param_groups"][0]["betas"] == (0.9, 0.999)
    assert torch.equal(found["model"]["0.weight"], model.state_dict()["0.weight"])


@pytest.mark.parametrize("value", [nn.Linear(2, 2), {"a": torch.device("cpu")}, [print]], ids=repr)
def test_anything_else_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ModelFileError, match="it names"):
        read_tensors(stored(value), name="x")


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [((3,), (1,), 3), ((2,), (5,), 0), ((-1,), (1,), 0), ((2, 2), (1,), 0), ((2,), (True,), 0)],
)
def test_tensors_beyond_their_bytes_are_refused(sizes: Any, strides: Any, offset: int) -> None:
    check_extent((2, 2), (2, 1), 0, 4)
    check_extent((0, 7), (7, 1), 0, 0)

    with pytest.raises(ValueError, match="a tensor of shape"):
        check_extent(sizes, strides, offset, 5)
