"""Interpretations as JSON files."""

from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from closedform.basics.keywords import checked_keywords
from closedform.expressions.json_files import JsonFormat
from closedform.expressions.printing import check_names
from closedform.interpretation.answer import Interpretation

FORMAT = JsonFormat("closedform interpretation", schema=5, written_by="Interpretation.save")
"""Files of the first schema have no parts and no networks; those before the third do not say which
checks are required, those before the fourth have no alternatives, and those before the fifth no
confidence.
"""


def save_interpretation(interpretation: Interpretation, path: str | Path) -> None:
    """Write a file; an interrupted write leaves the old one."""
    FORMAT.write(_plain(interpretation), path)


@checked_keywords
def load_interpretation(path: str | Path) -> Interpretation:
    """Read an interpretation that `Interpretation.save` wrote; any other file is a StorageError."""
    return FORMAT.load(path, _structured)


def _plain(interpretation: Interpretation) -> dict[str, Any]:
    """As dictionaries and lists; parts are interpretations themselves."""
    content = FORMAT.plain(replace(interpretation, parts=(), origin=None))
    del content["origin"]
    return {**content, "parts": [_plain(part) for part in interpretation.parts]}


def _structured(content: dict[str, Any]) -> Interpretation:
    """What `_plain` was made from; files of the first version have no parts."""
    parts = tuple(_structured(part) for part in content.pop("parts", ()))
    found = FORMAT.structured(content, Interpretation)
    check_names(found.names)
    for place in (found.chosen, found.steepest_drop):
        if place is not None and not 0 <= place < len(found.front):
            raise ValueError(f"it chooses entry {place} of {len(found.front)}")
    if not all(isfinite(value) for value in (found.floor, *(e.misalignment for e in found.front))):
        raise ValueError("a misalignment is not finite")
    drawn = found.directions
    if drawn is not None:
        sizes = {len(drawn.points), len(drawn.network), len(drawn.concept)}
        if len(found.names) != 2 or len(sizes) > 1:
            raise ValueError("its directions are not those of two inputs")
    _check_evidence(found)
    if not parts:
        return found
    # Before the third schema the whole carried the front and the evidence of its first concept.
    return replace(
        found, parts=parts, front=(), chosen=None, steepest_drop=None, choice_reason="", floor=1.0,
        alignment=None, phi=None,
        rivals=(), fit=None, constants=(), inputs=(), directions=None,
    )  # fmt: skip


def _check_evidence(found: Interpretation) -> None:
    """Refuse what could not be shown."""
    complexities = [entry.complexity for entry in found.front]
    if complexities != sorted(complexities):
        raise ValueError("its front is not in order of complexity")
    if found.alignment is not None and not found.alignment.angles:
        raise ValueError("its alignment has no angles")
    for need in found.inputs:
        if len({bound is None for bound in (need.low, need.median, need.high)}) > 1:
            raise ValueError(f"the range of {need.name} is not whole")
