"""Interpretations as JSON files, written at once or not at all."""

import json
import os
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from closedform.errors import StorageError
from closedform.expressions.expression import Expression
from closedform.expressions.input_names import check_names
from closedform.expressions.parse import parse
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
    try:
        return _structured(kept)
    except (ValueError, TypeError, KeyError, ExceptionGroup) as error:
        raise StorageError(f"The interpretation is damaged ({_first(error)}); save it again.") from error


def save_interpretation(interpretation: Interpretation, path: str | Path) -> None:
    """Write a file; an interrupted write leaves the old one."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_json(interpretation))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    check_names(found.names)
    return replace(found, parts=tuple(_structured(part) for part in content.get("parts", ())))


def _first(error: BaseException) -> BaseException:
    """The innermost error: the converter wraps one group around another."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@cache
def _converter() -> Any:
    from cattrs.preconf.json import make_converter

    converter = make_converter()
    converter.register_unstructure_hook(Expression, lambda e: {"text": str(e), "names": list(e.names)})
    converter.register_structure_hook(Expression, lambda value, _: parse(value["text"], names=value["names"]))
    return converter
