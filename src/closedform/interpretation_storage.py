"""Interpretations as JSON files, written at once or not at all."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from closedform.errors import StorageError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.files import write_text
from closedform.interpretation import SCHEMA, Interpretation


def to_json(interpretation: Interpretation) -> str:
    """The text of the file."""
    content = {"format": "closedform interpretation", "schema": SCHEMA, **_plain(interpretation)}
    return json.dumps(content, indent=1)


def from_json(text: str) -> Interpretation:
    """Read what `to_json` wrote.

    Raises
    ------
    StorageError
        If it is something else, or of a later version.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise StorageError(f"This is no JSON ({error}); pass a file that Interpretation.save wrote.") from error
    if not isinstance(content, dict) or content.get("format") != "closedform interpretation":
        raise StorageError("This JSON is no interpretation; pass a file that Interpretation.save wrote.")
    if content["schema"] > SCHEMA:
        raise StorageError(
            f"The file has schema {content['schema']}, and this version reads up to {SCHEMA}; upgrade closedform."
        )
    kept = {key: value for key, value in content.items() if key not in ("format", "schema")}
    return _structured(kept)


def save_interpretation(interpretation: Interpretation, path: str | Path) -> None:
    """Write a file; an interrupted write leaves the old one."""
    write_text(path, to_json(interpretation))


def load_interpretation(path: str | Path) -> Interpretation:
    """Read an interpretation that `Interpretation.save` wrote.

    Raises
    ------
    StorageError
        If the file is missing or something else.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path} cannot be read ({error}); pass a file that Interpretation.save wrote.") from error
    return from_json(text)


def _plain(interpretation: Interpretation) -> dict[str, Any]:
    """As dictionaries and lists; parts are interpretations themselves."""
    content = _converter().unstructure(replace(interpretation, parts=()))
    return {**content, "parts": [_plain(part) for part in interpretation.parts]}


def _structured(content: dict[str, Any]) -> Interpretation:
    """What `_plain` was made from; files of the first version have no parts."""
    found = _converter().structure({key: value for key, value in content.items() if key != "parts"}, Interpretation)
    return replace(found, parts=tuple(_structured(part) for part in content.get("parts", ())))


@cache
def _converter() -> Any:
    from cattrs.preconf.json import make_converter

    converter = make_converter()
    converter.register_unstructure_hook(Expression, lambda e: {"text": str(e), "names": list(e.names)})
    converter.register_structure_hook(Expression, lambda value, _: parse(value["text"], names=value["names"]))
    return converter
