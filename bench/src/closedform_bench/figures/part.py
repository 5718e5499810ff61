"""What is measured, what came of it, and where it is told."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PROCESSOR = "--processor"


@dataclass(frozen=True, slots=True)
class FigurePart:
    """One measurement: a command that prints one JSON object.

    Attributes
    ----------
    name : str
    words : tuple of str
        The command. ``{seed}`` stands for the seed.
    minutes : float
        Of one processor, roughly; less than two hours.
    kept_by : tuple of str
        Words that let the command keep what it has done and print JSON; ``{store}`` stands for its
        folder.
    clock : tuple of str
        Words that let it count processor seconds, if it does not do so anyway.
    """

    name: str
    words: tuple[str, ...]
    minutes: float
    kept_by: tuple[str, ...] = ("--store", "{store}", "--json")
    clock: tuple[str, ...] = (PROCESSOR,)

    def command(self, seed: int, *, processor: bool) -> list[str]:
        """What is typed to measure it, but for where results go.

        Examples
        --------
        >>> part = FigurePart("a", ("closedform", "bench", "--seed", "{seed}"), 1)
        >>> shlex.join(part.command(7, processor=True))
        'closedform bench --seed 7 --processor'
        """
        words = [word.replace("{seed}", str(seed)) for word in self.words]
        return [*words, *(self.clock if processor else ())]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a part gave.

    Attributes
    ----------
    part : str
    command : str
    seed : int
    code : str
        The last commit that changed the code.
    date : str
    versions : dict of str
        Of the package, Python, and what computes.
    result : object
        The JSON that the command printed.
    """

    part: str
    command: str
    seed: int
    code: str
    date: str
    result: Any
    versions: dict[str, str] = field(default_factory=dict)

    def option(self, name: str, default: str) -> str:
        """What the command says after an option.

        Examples
        --------
        >>> Measurement("a", "closedform bench --noise 3", 0, "", "", {}).option("--noise", "0")
        '3'
        """
        words = shlex.split(self.command)
        return words[words.index(name) + 1] if name in words else default


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A place in the docs.

    Attributes
    ----------
    name : str
        In its markers, ``<!-- figures:NAME -->`` and ``<!-- /figures:NAME -->``.
    page : str
        File, seen from the docs.
    parts : tuple of str
        Names of what it is made of.
    tabulate : callable
        From all measurements, in the order of the parts and seeds, to Markdown.
    is_whole_page : bool
        Whether it is the page, without markers.
    """

    name: str
    page: str
    parts: tuple[str, ...]
    tabulate: Callable[[Sequence[Measurement]], str]
    is_whole_page: bool = False
