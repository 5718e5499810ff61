import json
import pickle
import zipfile
from dataclasses import fields

import numpy as np
import pytest

from closedform.errors import DamagedFileError, StorageError
from closedform.field.field_file import FORMAT, load_field, save_field
from closedform.field.gradient_field import GradientField


def sphere(n_points=300):
    points = np.random.default_rng(0).normal(size=(n_points, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def plain():
    points = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    return GradientField.from_arrays(points, 2 * points, notes=["from here", "null \0 and ü"])


def constrained():
    points = sphere()
    points[0] = 0.0
    return GradientField.from_arrays(
        points * [1, 1, 2000],
        np.stack([np.cos(points), np.sin(points)], axis=1),
        latents=points[:, :2],
        names=["x", "odd name=1", "z"],
        weights=np.arange(300.0),
        constraints=["sqrt(x**2 + `odd name=1`**2 + (z/2000)**2)"],
    )


def linear():
    points = np.random.default_rng(2).uniform(-1, 1, (200, 3))
    points[:, 2] = 1 - points[:, 0]
    return GradientField.from_arrays(points, np.cos(points))


def local():
    return GradientField.from_arrays(sphere(), np.cos(sphere()), tangent="local")


def assert_identical(first, second):
    for entry in fields(first):
        one, other = getattr(first, entry.name), getattr(second, entry.name)
        if entry.name == "tangent":
            assert_identical(one, other)
        elif isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
            assert one.shape == other.shape
            assert not other.flags.writeable
        else:
            assert one == other, entry.name
            assert type(one) is type(other)


@pytest.mark.parametrize("make", [plain, constrained, linear, local])
def test_a_field_comes_back_bit_for_bit(make, tmp_path):
    field = make()
    field.save(tmp_path / "field.npz")
    assert_identical(field, load_field(str(tmp_path / "field.npz")))


def test_the_same_field_gives_the_same_bytes_at_the_very_path(tmp_path):
    plain().save(tmp_path / "first")
    save_field(plain(), str(tmp_path / "second.field"))
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second.field").read_bytes()


def test_the_file_is_an_npz_without_pickle(tmp_path):
    constrained().save(tmp_path / "field.npz")
    with np.load(tmp_path / "field.npz", allow_pickle=False) as archive:
        assert {archive[name].dtype.kind for name in archive.files} <= {"f", "b", "u"}
        assert json.loads(archive["header"].tobytes())["schema"] == FORMAT.schema


def changed_header(path, **changes):
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    header.update(changes)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def test_a_newer_schema_asks_for_an_upgrade(tmp_path):
    path = tmp_path / "field.npz"
    plain().save(path)
    changed_header(path, schema=FORMAT.schema + 1)
    with pytest.raises(StorageError, match=f"has schema {FORMAT.schema + 1}.*upgrade"):
        load_field(path)


def test_another_format_is_named(tmp_path):
    path = tmp_path / "field.npz"
    plain().save(path)
    changed_header(path, format="something-else")
    with pytest.raises(DamagedFileError, match="holds 'something-else'"):
        load_field(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"text, not an archive", pickle.dumps({"points": 1}), b"PK\x03\x04 broken"],
    ids=["empty", "text", "pickle", "broken zip"],
)
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "field.npz").write_bytes(content)
    with pytest.raises(DamagedFileError, match="is damaged or of another kind"):
        load_field(tmp_path / "field.npz")


def test_other_archives_are_refused(tmp_path):
    np.savez(tmp_path / "inputs.npz", inputs=np.zeros((3, 2)))
    with pytest.raises(DamagedFileError, match="is damaged or of another kind"):
        load_field(tmp_path / "inputs.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(DamagedFileError, match="is damaged or of another kind"):
        load_field(tmp_path / "array.npy")


def test_pickled_arrays_are_never_run(tmp_path):
    np.savez(tmp_path / "evil.npz", header=np.array([{"format": "closedform-field"}], dtype=object))
    with pytest.raises(DamagedFileError, match="is damaged or of another kind"):
        load_field(tmp_path / "evil.npz")


@pytest.mark.parametrize("member", ["points", "frames", "header"])
def test_a_missing_part_is_refused(member, tmp_path):
    plain().save(tmp_path / "whole.npz")
    with (
        zipfile.ZipFile(tmp_path / "whole.npz") as whole,
        zipfile.ZipFile(tmp_path / "part.npz", "w") as part,
    ):
        for name in whole.namelist():
            if name != f"{member}.npy":
                part.writestr(name, whole.read(name))
    with pytest.raises(DamagedFileError, match=f"{member}"):
        load_field(tmp_path / "part.npz")


def test_arrays_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "field.npz"
    plain().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "weights": np.ones(3)})
    with pytest.raises(DamagedFileError, match=r"damaged .*weights have shape \(3,\)"):
        load_field(path)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_field(tmp_path / "nothing.npz")


def test_a_large_field_is_saved_so_that_it_is_read_again(tmp_path, monkeypatch):
    """A field with few slopes is compressed a hundredfold, which is refused in a large file."""
    points = np.ones((2000, 20))
    points[:, 0] = np.arange(2000)
    slopes = np.zeros_like(points)
    slopes[:, 0] = 1
    field = GradientField.from_arrays(points, slopes)
    field.save(tmp_path / "small.npz")
    monkeypatch.setattr("closedform.basics.limits.ARRAYS", 10**5)
    with pytest.raises(DamagedFileError, match="far more than real data"):
        load_field(tmp_path / "small.npz")
    field.save(tmp_path / "large.npz")
    assert load_field(tmp_path / "large.npz").n_points == 2000


def test_a_network_in_place_of_a_field_is_told_how_to_become_one(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"\x08\x07")
    with pytest.raises(DamagedFileError, match=r"closedform extract NETWORK DATA\.npz"):
        load_field(tmp_path / "net.onnx")
