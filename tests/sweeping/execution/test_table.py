import pytest

from closedform.errors import StorageError
from closedform.sweeping.execution.store import ResultStore, read_table

ROWS = {
    "a": {"verdict": "verified", "complexity": 5, "score": 0.25, "is_new": True, "more": [1]},
    "b": {"verdict": "verified", "complexity": 12, "score": 1, "is_new": False},
    "c": {"verdict": "none", "complexity": None, "score": 0.5, "is_new": False, "reason": "dead"},
    "d": {"verdict": "none"},
}


@pytest.fixture(params=["loose", "gathered", "mixed", "apart"])
def store(request, tmp_path):
    store = ResultStore(tmp_path)
    for key, record in ROWS.items():
        store.put(key, record)
        if request.param == "apart" or (request.param == "mixed" and key == "b"):
            store.compact()
    if request.param == "gathered":
        store.compact()
    return store


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("", "abcd"),
        ("verdict == 'verified' and complexity < 10", "a"),
        ("verdict == 'verified'", "ab"),
        ("5 <= complexity <= 12", "ab"),
        ("complexity.notna() and complexity != 5", "b"),
        ("score > 0.3", "bc"),
        ("is_new == True", "a"),
        ("reason == 'dead'", "c"),
        ("verdict == 'nothing'", ""),
    ],
)
def test_filters(store, where, keys):
    assert sorted(read_table(store, where)["key"]) == list(keys)


def test_columns(store):
    table = read_table(store, "score > 0.3", columns=["verdict"])
    assert list(table.columns) == ["key", "verdict"]
    assert "more" not in read_table(store).columns


def test_records_are_not_read_for_a_table(store, monkeypatch):
    store.compact()
    monkeypatch.setattr(store.parts, "records", None)
    assert len(read_table(store)) == 4


def test_a_replaced_record_counts_once(store):
    store.put("a", {"verdict": "none", "complexity": 1})
    table = read_table(store)
    assert table.loc[table["key"] == "a", "verdict"].tolist() == ["none"]
    assert len(table) == 4


def test_types_that_differ_between_files(tmp_path):
    store = ResultStore(tmp_path)
    for number, value in enumerate([1, 2.5, "text", None]):
        store.put(f"k{number}", {"value": value})
        store.compact()
    assert sorted(read_table(store)["value"].dropna()) == ["1", "2.5", "text"]


def test_an_empty_store(tmp_path):
    assert len(read_table(ResultStore(tmp_path))) == 0


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("verdict = verified, score < 1", "pandas"),
        ("nothing == 1", "Columns:.*score"),
        ("score < 'x'", "pandas"),
    ],
)
def test_mistakes_are_told(store, where, said):
    with pytest.raises(StorageError, match=said):
        read_table(store, where)
