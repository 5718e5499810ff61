import json
import os
import pickle
import random
import subprocess
import sys
from hashlib import blake2b

import numpy as np
import pytest

from closedform.errors import StorageError
from closedform.sweeping.execution import store as module
from closedform.sweeping.execution.store import ResultStore, read_table

RECORD = {
    "verdict": "verified",
    "complexity": 7,
    "misalignment": 0.1 + 0.2,
    "front": [{"text": "x + é", "value": None}],
}


def filled(path, count):
    store = ResultStore(path)
    for number in range(count):
        store.put(
            f"key{number:05d}", {"number": number, "half": number / 2, "even": number % 2 == 0}
        )
    return store


def files_of(path):
    return sorted(path.glob("results/*/*.json"))


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_a_record_comes_back_as_it_was(tmp_path, kind):
    store = ResultStore(tmp_path / "s" if kind == "disk" else f"memory://{tmp_path}")
    assert (store.get("a1"), "a1" in store, store.keys(), list(store.records())) == (
        None,
        False,
        set(),
        [],
    )
    store.put("a1", RECORD)
    store.put("b2", {})
    assert store.get("a1") == RECORD
    assert (store.get("b2"), "b2" in store, "c" in store, 3 in store) == ({}, True, False, False)
    assert store.keys() == {"a1", "b2"}
    assert dict(store.records()) == {"a1": RECORD, "b2": {}}
    store.compact()
    assert store.loose() == []
    assert store.get("a1") == RECORD
    assert dict(store.records()) == {"a1": RECORD, "b2": {}}
    assert store.keys() == {"a1", "b2"}
    assert "b2" in store
    assert "c" not in store


def test_a_store_travels_to_another_process(tmp_path):
    store = filled(tmp_path, 3)
    assert pickle.loads(pickle.dumps(store)).keys() == store.keys()


@pytest.mark.parametrize("key", ["", "a/b", "../x", ".hidden", "a" * 129])
def test_keys_that_are_no_file_names_are_refused(tmp_path, key):
    with pytest.raises(StorageError, match="file's name"):
        ResultStore(tmp_path).put(key, {})


def test_records_that_are_no_json_are_refused_and_leave_nothing(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(StorageError, match="JSON"):
        store.put("a", {"value": object()})
    assert store.keys() == set()


def test_a_later_record_wins_also_over_gathered_ones(tmp_path):
    store = ResultStore(tmp_path)
    for number in range(3):
        store.put("a", {"number": number})
        store.compact()
        assert store.get("a") == {"number": number}
    store.put("a", {"number": 3})
    assert store.get("a") == {"number": 3}
    assert dict(store.records()) == {"a": {"number": 3}}


def damage(path, number):
    """Truncate, empty, or overwrite a file with garbage or with another's content."""
    content = path.read_bytes()
    rng = np.random.default_rng(number)
    ways = [
        content[: len(content) // 2],
        b"",
        rng.bytes(len(content)),
        content[:-1],
        content[:-9] + b"7" + content[-8:],
        content.replace(b'"schema": 1', b'"schema": 9'),
        b"{}\n{}\n",
    ]
    path.write_bytes(ways[number % len(ways)])


def test_a_hundred_damaged_files_are_all_found(tmp_path):
    store = filled(tmp_path, 300)
    chosen = random.Random(0).sample(files_of(tmp_path), 100)
    for number, path in enumerate(chosen):
        damage(path, number)
    lost = {path.stem for path in chosen}
    found = store.check()
    assert set(found.damaged) == lost
    assert found.sound == store.keys() - lost
    assert all(store.get(key) is None for key in lost)
    assert {key for key, _ in store.records()} == found.sound
    assert store.compact() == 200
    assert set(store.check().damaged) == lost
    for key in lost:
        store.put(key, {"number": -1})
    assert store.check().damaged == ()
    assert len(store.check().sound) == 300


def test_a_file_of_another_key_counts_as_damaged(tmp_path):
    store = filled(tmp_path, 20)
    first, second = files_of(tmp_path)[:2]
    first.write_bytes(second.read_bytes())
    assert store.check().damaged == (first.stem,)


def test_a_file_of_a_later_version_is_no_damage(tmp_path, monkeypatch):
    monkeypatch.setattr("closedform.sweeping.execution.store.SCHEMA", 99)
    ResultStore(tmp_path).put("a", {})
    monkeypatch.undo()
    with pytest.raises(StorageError, match="upgrade"):
        ResultStore(tmp_path).get("a")


@pytest.mark.parametrize("way", ["truncated", "garbage"])
def test_a_damaged_part_counts_as_missing(tmp_path, way):
    filled(tmp_path, 30).compact()
    store = ResultStore(tmp_path)
    store.put("other", {"number": -1})
    store.compact()
    first = min((tmp_path / "parts").iterdir())
    content = first.read_bytes()
    first.write_bytes(content[:-20] if way == "truncated" else content[:50] + b"#" + content[51:])
    store = ResultStore(tmp_path)
    assert store.keys() == {"other"}
    assert store.check().damaged_parts == (first.name,)
    assert store.get("key00003") is None
    assert [key for key, _ in store.records()] == ["other"]


def test_nothing_is_read_to_list(tmp_path, monkeypatch):
    store = filled(tmp_path, 50)

    def refuse(*_):
        raise AssertionError("a file was read")

    monkeypatch.setattr("closedform.sweeping.execution.shared_folder.SharedFolder.read", refuse)
    assert len(store.keys()) == 50


def test_gathering_waits_for_enough_and_splits_what_is_large(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_PART", 20)
    store = filled(tmp_path, 50)
    assert store.compact(minimum=51) == 0
    assert store.compact(minimum=50) == 50
    assert [len(keys) for keys in store.parts.keys().values()] == [20, 20, 10]
    assert store.get("key00037") == {"number": 37, "half": 18.5, "even": False}


def test_what_a_crash_leaves_between_writing_and_removing_counts_once(tmp_path, monkeypatch):
    store = filled(tmp_path, 10)
    monkeypatch.setattr(store.folder, "remove", lambda name: None)
    store.compact()
    store.compact()
    assert len(store.loose()) == 10
    assert len(list(store.records())) == 10
    assert len(store.keys()) == 10


def test_columns_are_of_one_type_each(tmp_path):
    store = ResultStore(tmp_path)
    values = [1, 2.5, None, True, "text"]
    for number, value in enumerate(values):
        store.put(
            f"k{number}", {"mixed": value, "number": [1, 2.5, None, 3, 4][number], "list": [1]}
        )
    store.compact()
    (name,) = store.parts.names()
    table = store.parts.read(name)
    assert table is not None
    assert table.column("mixed").to_pylist() == ["1", "2.5", None, "True", "text"]
    assert table.column("number").to_pylist() == [1.0, 2.5, None, 3.0, 4.0]
    assert "list" not in table.column_names
    assert store.get("k3") == {"mixed": True, "number": 3, "list": [1]}


WRITER = """
import sys
from closedform.sweeping.execution.store import ResultStore

path, who, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = ResultStore(path)
for number in range(rounds):
    store.put(f"key{number % 20}", {"who": who, "number": number, "filling": who * 3000})
    if who == "c" and number % 25 == 0:
        store.compact()
"""


def test_two_writers_and_a_gatherer_at_once_tear_nothing(tmp_path):
    rounds = 400
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), who, str(rounds)])
        for who in ("a", "b", "c")
    ]
    store = ResultStore(tmp_path)
    looks = 0
    while any(writer.poll() is None for writer in writers):
        # A file that is replaced or gathered while it is read is whole before and after.
        assert store.check().damaged == ()
        for _, record in store.records():
            assert record["filling"] == record["who"] * 3000
        looks += 1
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert looks > 2
    assert len(store.keys()) == 20
    assert store.check().damaged == ()
    assert not list((tmp_path / "partial").iterdir())


def test_a_killed_writer_leaves_no_torn_record(tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "a", "1000000"])
    store = ResultStore(tmp_path)
    while len(store.keys()) < 20:
        assert writer.poll() is None
    writer.kill()
    writer.wait()
    assert store.check().damaged == ()
    assert len(store.check().sound) == 20
    store.put("key0", {"who": "me"})
    assert store.get("key0") == {"who": "me"}


def test_a_record_keeps_every_bit_of_a_number(tmp_path):
    numbers = np.random.default_rng(0).normal(size=100) * 10.0 ** np.arange(-50, 50)
    store = ResultStore(tmp_path)
    store.put("a", {"numbers": numbers.tolist()})
    store.compact()
    record = store.get("a")
    assert record is not None
    assert record["numbers"] == numbers.tolist()
    assert json.dumps(record) == json.dumps({"numbers": numbers.tolist()})


def test_strays_are_skipped_counted_and_named(tmp_path):
    store = filled(tmp_path, 3)
    path = files_of(tmp_path)[0]
    results = tmp_path / "results"
    for place in (results / ".DS_Store", path.parent / ".DS_Store", path.parent / "odd name.json"):
        place.write_bytes(b"x")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / ".DS_Store").write_bytes(b"x")
    (results / "folder").mkdir()
    found = store.check()
    assert len(found.strays) == 4
    assert ".DS_Store" in found.strays
    assert "4 stray (.DS_Store" in str(found)
    assert len(found.sound) == len(list(store.records())) == len(store.keys()) == 3
    assert len(read_table(store)) == 3


@pytest.mark.parametrize("content", [b"[1, 2]", b'"text"', b"\xff\xfe", b"{", b"[" * 100_000])
def test_what_is_not_a_record_counts_as_damaged(tmp_path, content):
    store = filled(tmp_path, 2)
    path = files_of(tmp_path)[0]
    header = {"format": "closedform result", "schema": 1, "key": path.stem}
    header["checksum"] = module._checksum(path.stem, 1, content)
    path.write_bytes(json.dumps(header).encode() + b"\n" + content + b"\n")
    assert store.check().damaged == (path.stem,)
    assert "1 damaged" in str(store.check())
    assert store.get(path.stem) is None
    assert len(list(store.records())) == len(read_table(store)) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_pipe_or_folder_in_the_place_of_a_record(tmp_path, kind):
    store = filled(tmp_path, 2)
    path = files_of(tmp_path)[0]
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    assert store.check().damaged == (path.stem,)
    assert len(read_table(store)) == 1


def test_later_parts_win_whatever_the_clock_says(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)
    for number, now in enumerate((2e9, 1e9)):
        monkeypatch.setattr("time.time_ns", lambda now=now: int(now))
        store.put("key", {"number": number})
        store.compact()
    assert ResultStore(tmp_path).get("key") == {"number": 1}
    assert read_table(ResultStore(tmp_path))["number"].tolist() == [1]


@pytest.mark.parametrize(
    "path", ["", 3, None, b"x", "a\0b", "a\ud800", "foo://x", "zip://x", "ftp://127.0.0.1:1/x"]
)
def test_what_cannot_be_a_store(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError, match="cannot be"):
        ResultStore(path)
    assert not list(tmp_path.iterdir())


def test_a_record_is_as_long_as_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("closedform.basics.limits.TEXT", 5000)
    store = ResultStore(tmp_path)
    store.put("a", {"text": "x" * 3900})
    assert store.get("a") == {"text": "x" * 3900}
    with pytest.raises(StorageError, match="at most 5,000 are read"):
        store.put("b", {"text": "x" * 4000})


def test_a_file_that_is_too_long_is_neither_read_whole_nor_taken(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)
    store.put("a", {"text": "x" * 4000})
    monkeypatch.setattr("closedform.basics.limits.TEXT", 2000)
    (file,) = tmp_path.glob("results/*/a.json")
    assert len(store.folder.read(f"results/{file.parent.name}/a.json", 2000) or b"") == 2001
    assert store.get("a") is None
    assert store.check().damaged == ("a",)


def test_a_part_that_claims_more_than_a_part_holds_counts_as_damaged(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    store = ResultStore(tmp_path)
    store.parts.add([("a", '{"text": "' + "x" * 10**5 + '"}')])
    assert store.get("a") is not None
    # Compressed it is far smaller than this, and what it claims to hold is larger.
    monkeypatch.setattr("closedform.basics.limits.ARRAYS", 10**5)
    assert ResultStore(tmp_path).get("a") is None


@pytest.mark.parametrize("is_gathered", [False, True])
@pytest.mark.parametrize(
    ("value", "cell"),
    [(10**30, str(10**30)), (-(2**63) - 1, str(-(2**63) - 1)), ("a\ud800", r"a\ud800")],
)
def test_what_no_column_holds_is_shown_as_text(tmp_path, value, cell, is_gathered):
    store = ResultStore(tmp_path)
    store.put("a", {"n": value, "\udfff": 1})
    if is_gathered:
        pytest.importorskip("pyarrow")
        assert store.compact() == 1
    table = read_table(store)
    assert table["n"].tolist() == [cell]
    assert r"\udfff" in table.columns
    assert store.get("a") == {"n": value, "\udfff": 1}


def test_a_part_with_a_right_checksum_that_was_never_one_counts_as_damaged(tmp_path):
    """Found by fuzzing: pyarrow says OSError where a page is torn."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    store = ResultStore(tmp_path)
    store.parts.add([("a", "{}")])
    (sound,) = (file.read_bytes() for file in (tmp_path / "parts").iterdir())
    at = sound.index(b"\x28\xb5\x2f\xfd")  # a page, compressed by zstd
    tables = [
        {"key": [1], "record": ["{}"]},
        {"key": ["b"]},
        {"key": ["b", "c"], "record": ["{}", None]},
        {"key": ["b", None], "record": ["{}", "{}"]},
        {"key": ["b"], "record": ["{}"], "list": [[1]]},
    ]
    streams = [arrow.BufferOutputStream() for _ in tables]
    for columns, stream in zip(tables, streams, strict=True):
        parquet.write_table(arrow.table(columns), stream)
    wrong = [sound[:at] + b"\0\0\0\0" + sound[at + 4 :]]
    wrong += [stream.getvalue().to_pybytes() for stream in streams]
    # A column's name, and a record, that are not UTF-8.
    plain = arrow.BufferOutputStream()
    names = {"key": ["b"], "record": ["{}......"], "column": [1]}
    parquet.write_table(
        arrow.table(names), plain, compression="none", write_statistics=False, store_schema=False
    )
    content = plain.getvalue().to_pybytes()
    wrong += [content.replace(old, b"\x81" + old[1:]) for old in (b"column", b"{}......")]
    for number, content in enumerate(wrong, 2):
        name = f"{number:020d}-{blake2b(content, digest_size=16).hexdigest()}.parquet"
        (tmp_path / "parts" / name).write_bytes(content)

    again = ResultStore(tmp_path)

    # A missing record is seen when records are read, and so is one that is not text.
    assert len(again.check().damaged_parts) == len(wrong) - 2
    assert [key for key, _ in again.records()] == ["a"]
    assert read_table(again, columns=[])["key"].tolist() == ["a", "b", "c"]
