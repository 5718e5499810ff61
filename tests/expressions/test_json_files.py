"""Which files are read at all."""

import json

import pytest

from closedform.errors import StorageError
from closedform.expressions.json_files import JsonFormat

FORMAT = JsonFormat("note", 2, "Note.save")


@pytest.mark.parametrize("schema", [1, 2])
def test_earlier_and_present_layouts_are_read(tmp_path, schema):
    path = tmp_path / "note.json"
    path.write_text(
        json.dumps({"format": "note", "schema": schema, "text": "so"}), encoding="utf-8"
    )
    assert FORMAT.load(path, dict) == {"text": "so"}


@pytest.mark.parametrize("schema", [0, -1, "1", 1.5, True, None])
def test_what_is_no_layout_is_refused(tmp_path, schema):
    path = tmp_path / "note.json"
    path.write_text(
        json.dumps({"format": "note", "schema": schema, "text": "so"}), encoding="utf-8"
    )
    with pytest.raises(StorageError, match="its schema is"):
        FORMAT.load(path, dict)


def test_later_layouts_ask_for_an_upgrade(tmp_path):
    path = tmp_path / "note.json"
    path.write_text(json.dumps({"format": "note", "schema": 3, "text": "so"}), encoding="utf-8")
    with pytest.raises(StorageError, match="schema 3, and this version reads up to 2; upgrade"):
        FORMAT.load(path, dict)
