"""Groups: inputs that are alike, the sites of a lattice or the sensors of an array, and which of
them are neighbours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.basics.keywords import checked_constructor
from closedform.errors import FieldError
from closedform.expressions.input_names import check_names

FEWEST_SITES = 3
"""A sum over two inputs is an ordinary formula of two inputs."""


@checked_constructor
@dataclass(frozen=True)
class Group:
    """Inputs that are alike.

    Attributes
    ----------
    sites : sequence of int or of str
        The inputs, by column or by name, in the order of the lattice.
    shape : tuple of int, optional
        The lattice: the last axis counts fastest, and nearest neighbours along each axis are
        neighbours.
    neighbours : sequence of pairs of int, optional
        In place of a shape: pairs of neighbouring sites, counted from 0 within the group, each pair
        once.
    periodic : bool
        Whether the last site along an axis of the lattice is a neighbour of the first.

    Examples
    --------
    >>> Group(range(6), shape=(2, 3), periodic=False).pairs.tolist()
    [[0, 3], [1, 4], [2, 5], [0, 1], [1, 2], [3, 4], [4, 5]]
    """

    sites: Sequence[int] | Sequence[str]
    shape: tuple[int, ...] | None = None
    neighbours: Sequence[tuple[int, int]] | None = None
    periodic: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", tuple(_plain(site) for site in self.sites))
        count = len(self.sites)
        if count < FEWEST_SITES or len(set(self.sites)) != count:
            raise FieldError(
                f"A group of {count} sites, {len(set(self.sites))} of them different; pass at "
                f"least {FEWEST_SITES} different inputs."
            )
        if self.shape is not None:
            object.__setattr__(self, "shape", tuple(int(length) for length in self.shape))
            if self.neighbours is not None or int(np.prod(self.shape)) != count:
                raise FieldError(
                    f"The lattice {self.shape} does not fit a group of {count} sites with "
                    f"neighbours={'None' if self.neighbours is None else '...'}; pass a shape with "
                    f"as many sites as the group has, or neighbours, not both."
                )
        if self.neighbours is not None:
            listed = np.asarray(self.neighbours)
            is_pairs = listed.ndim == 2 and listed.shape[1] == 2 and listed.dtype.kind in "iu"
            if not is_pairs or not (listed.min() >= 0 and listed.max() < count):
                raise FieldError(
                    f"neighbours has shape {listed.shape}; pass pairs of whole numbers from 0 to "
                    f"{count - 1}, the places of two sites in the group."
                )
            object.__setattr__(self, "neighbours", tuple((int(a), int(b)) for a, b in listed))

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """The sites, where they are columns."""
        return np.array([int(site) for site in self.sites], dtype=np.int64)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """Neighbouring places within the group, shape (n_pairs, 2); none if nothing is known."""
        if self.neighbours is not None:
            return np.asarray(self.neighbours, dtype=np.int64)
        if self.shape is None:
            return np.empty((0, 2), dtype=np.int64)
        places = np.arange(len(self.sites)).reshape(self.shape)
        found = []
        for axis, length in enumerate(self.shape):
            if length < 2:
                continue
            # Around a ring of two the neighbour on both sides is the same one.
            around = self.periodic and length > 2
            here = places if around else np.take(places, np.arange(length - 1), axis)
            beyond = np.take(np.roll(places, -1, axis), np.arange(here.shape[axis]), axis)
            found.append(np.stack([here.ravel(), beyond.ravel()], axis=1))
        return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


GroupsLike = Mapping[str, Any]
"""What users pass: names to lists of inputs, or to `Group`."""


def as_groups(groups: GroupsLike, names: Sequence[str]) -> dict[str, Group]:
    """Groups with their sites as columns of a table with these names.

    Examples
    --------
    >>> as_groups({"s": ["b", "c", "d"]}, ["a", "b", "c", "d"])["s"].sites
    (1, 2, 3)
    """
    if not isinstance(groups, Mapping) or not groups:
        raise FieldError(
            f"groups is {groups!r:.60}; pass a name and the inputs that are alike: "
            f"groups={{'s': range(100)}}."
        )
    check_names(list(groups))
    places = {name: column for column, name in enumerate(names)}
    found: dict[str, Group] = {}
    taken: set[int] = set()
    for name, given in groups.items():
        group = given if isinstance(given, Group) else Group(given)
        columns = [_column(name, site, places) for site in group.sites]
        if taken.intersection(columns) or len(set(columns)) < len(columns):
            raise FieldError(f"An input of group {name!r} occurs twice in groups; list it once.")
        taken.update(columns)
        found[name] = Group(columns, group.shape, group.neighbours, group.periodic)
    return found


def names_with_groups(groups: GroupsLike, count: int) -> list[str]:
    """Names for inputs that have none: s[0], s[1] and so on, and x with the column for the rest.

    Examples
    --------
    >>> names_with_groups({"s": [1, 2, 3]}, 5)
    ['x0', 's[0]', 's[1]', 's[2]', 'x4']
    """
    names = [f"x{column}" for column in range(count)]
    for name, group in as_groups(groups, names).items():
        for place, column in enumerate(group.columns.tolist()):
            names[column] = f"{name}[{place}]"
    return names


def _plain(site: Any) -> int | str:
    return site if isinstance(site, str) else int(site)


def _column(group: str, site: int | str, places: Mapping[str, int]) -> int:
    column = places.get(site) if isinstance(site, str) else site
    if column is None or not 0 <= column < len(places):
        raise FieldError(
            f"Group {group!r} holds {site!r}, which is not among the {len(places)} inputs; pass "
            f"columns counted from 0, or names."
        )
    return column
