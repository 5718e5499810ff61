"""Columns that together are one category: 0 and 1, and exactly one of them 1 at each point."""

from collections.abc import Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.findings import Finding


def find_categories(points: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Groups of one-hot columns.

    Examples
    --------
    >>> rows = np.eye(3)[[0, 1, 2, 1]]
    >>> find_categories(np.column_stack([[0.3, 0.1, 0.7, 0.2], rows]))
    ((1, 2, 3),)
    """
    is_binary = ((points == 0) | (points == 1)).all(axis=0) & (np.ptp(points, axis=0) > 0)
    groups: list[list[int]] = []
    for column in np.flatnonzero(is_binary).tolist():
        is_one = points[:, column] == 1
        home = next((group for group in groups if not points[is_one][:, group].any()), None)
        if home is None:
            groups.append([column])
        else:
            home.append(column)
    return tuple(
        tuple(group)
        for group in groups
        if len(group) > 1 and (points[:, group].sum(axis=1) == 1).all()
    )


def category_findings(points: FloatArray, names: Sequence[str]) -> tuple[Finding, ...]:
    """One finding for each category, with what to type."""
    found = find_categories(points)
    inside = {column for group in found for column in group}
    others = [name for column, name in enumerate(names) if column not in inside]
    held = f", or hold them: wrt={others!r}" if others else ""
    return tuple(
        Finding(
            "one-hot-inputs",
            "warning",
            f"{', '.join(names[column] for column in group)} look like one category: exactly one "
            f"of them is 1 at each point, so a gradient with respect to them means nothing. Read "
            f"one at a time, on the points where it is 1{held}.",
            {"names": [names[column] for column in group]},
        )
        for group in found
    )
