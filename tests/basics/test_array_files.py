import io
import zipfile

import numpy as np
import pytest

import closedform as cf
from closedform.basics.files import read_arrays
from closedform.errors import DamagedFileError


def header(shape: str) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    content = stream.getvalue()
    return content.replace(b"(3,), }", f"{shape}, }}".encode())[: len(content)]


def archive(path, entry: bytes, *, compression=zipfile.ZIP_STORED, copies=1):
    with zipfile.ZipFile(path, "w", compression) as file:
        for _ in range(copies):
            file.writestr("inputs.npy", entry)
    return path


def test_arrays_come_back(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.eye(3), text=np.array(["ü", "v"]))
    found = read_arrays(tmp_path / "a.npz")
    assert found["x"].tolist() == np.eye(3).tolist()
    assert found["text"].tolist() == ["ü", "v"]


def test_a_header_that_claims_ten_to_the_fourteen_elements_costs_no_memory(tmp_path, monkeypatch):
    path = archive(tmp_path / "a.npz", header("(100000000000000,)"))

    def must_not_ask(*arguments, **options):
        raise AssertionError("the array was read")

    monkeypatch.setattr(np.lib.format, "read_array", must_not_ask)
    with pytest.raises(DamagedFileError, match=r"claims shape \(100000000000000,\)") as caught:
        read_arrays(path, remedy="write it again")
    assert caught.value.path == str(path)
    assert str(caught.value).endswith("write it again.")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_there_twice_or_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DamagedFileError, match="twice"):
        read_arrays(archive(tmp_path / "twice.npz", header("(3,)"), copies=2))
    monkeypatch.setattr("closedform.basics.limits.ARRAYS", 2**20)
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(2**20))
    bomb = archive(tmp_path / "bomb.npz", zeros.getvalue(), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(DamagedFileError, match=r"would take 8,388,736 in memory"):
        read_arrays(bomb)
    with pytest.raises(DamagedFileError, match=r"bomb\.npz"):
        cf.load_field(bomb)


def test_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}], dtype=object))
    with pytest.raises(DamagedFileError, match="Object arrays"):
        read_arrays(tmp_path / "a.npz")


def test_the_error_survives_a_process_boundary():
    import pickle

    error = DamagedFileError("a.npz is damaged", path="a.npz")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path) == (str(error), "a.npz")
