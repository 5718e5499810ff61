"""Progress: an object that is passed in and told how far a long step is. The default tells nobody;
a person watches one live line (terminal and notebook), or a table with the best expression of each
complexity.
"""

import math
import os
import re
import shutil
import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol, TextIO, cast

from closedform.basics.keywords import suggestion
from closedform.errors import ProgressError, shown


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a step is."""

    step: str  # what is being done
    done: float  # share of the budget that is used, 0 to 1
    seconds_left: float | None = None  # estimate, None if unknown
    details: tuple[tuple[str, str], ...] = ()
    """Lines to show, such as a complexity with its best expression; the latest only."""
    rate: float | None = None  # evaluations per second


class Progress(Protocol):
    """An object that is told how far a step is."""

    def show(self, snapshot: Snapshot) -> None:
        """Take the latest news; called a few times a second at most."""
        ...

    def close(self) -> None:
        """The step is over."""
        ...


@dataclass(frozen=True, slots=True)
class Silent:
    """Tells nobody."""

    def show(self, snapshot: Snapshot) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Named:
    """Tells someone else, under another name of the step."""

    progress: Progress
    step: str

    def show(self, snapshot: Snapshot) -> None:
        """Pass the news on."""
        self.progress.show(replace(snapshot, step=self.step))

    def close(self) -> None:
        """Pass it on."""
        self.progress.close()


ProgressLike = bool | str | Progress | None
"""What a public function takes as `progress`."""

_KINDS = ("line", "table")
_NOTEBOOK_WIDTH, _BAR_WIDTH = 120, 10
_BAR_FROM = 100
"""In fewer columns the line has no bar: the expression needs the room more."""
_MISALIGNMENT = re.compile(r"(\d(?:\.\d+)?e[+-]\d+)\s+(?=\S)")
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{4,}(?:e[+-]?\d+)?(?![\w.])")


def choose_progress(show: ProgressLike) -> Progress:
    """The progress that is asked for.

    True or ``"line"`` shows one live line, ``"table"`` a table in the terminal, False nothing. None
    shows a line where a person is watching: in a terminal or a notebook. An object with the methods
    ``show`` and ``close`` is taken as it is; anything else is a ProgressError.
    """
    if show is False or (show is None and not _is_watched()):
        return Silent()
    if show is None or show is True or show == "line":
        return Live()
    if show == "table":
        return ProgressTable()
    if isinstance(show, str):
        hint = suggestion(show.lower(), _KINDS) or "."
        raise ProgressError(
            f"There is no progress named {show!r}{hint} Known: {', '.join(_KINDS)}."
        )
    if isinstance(show, type) or not all(
        callable(getattr(show, name, None)) for name in ("show", "close")
    ):
        message = f"Progress is an object with the methods show and close; got {show!r}."
        raise ProgressError(f"{message} Pass True, 'line', 'table' or such an object.")
    return cast(Progress, show)


def _is_watched() -> bool:
    """Whether a person sees what is written: a terminal, or a notebook's kernel."""
    return "ipykernel" in sys.modules or (
        sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
    )


class _Steps:
    """What line and table share: a stream, the standard error if None, and for every step a drawing
    of its own, which stays when the step is over.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        self._drawn: Any = None
        self._latest: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Draw the latest news."""
        stream = self._open_stream()
        if stream is None:
            return
        if self._latest is not None and snapshot.step != self._latest.step:
            self.close()
        self._latest = snapshot
        self._draw(snapshot, stream)

    def close(self) -> None:
        """Leave what is drawn as it is and go to the next line."""
        drawn, latest = self._drawn, self._latest
        self._drawn = self._latest = None
        self._end(drawn, latest)

    def _draw(self, snapshot: Snapshot, stream: TextIO) -> None:
        raise NotImplementedError

    def _end(self, drawn: Any, latest: Snapshot | None) -> None:
        raise NotImplementedError

    def _open_stream(self) -> TextIO | None:
        stream = sys.stderr if self.stream is None else self.stream
        # A window application has no standard error.
        return None if stream is None or stream.closed else stream


class Live(_Steps):
    """One line that is drawn again and again, by tqdm; in a notebook it is a widget, where
    ipywidgets is installed. Where to write is a text file, or the standard error if None.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> live = Live(stream)
    >>> live.show(Snapshot("terms", 0.5, 3.0, (("4", "1.0e-03  x**2 + v"),), 12_000.0))
    >>> live.close()
    >>> "3 s left, 12k eval/s, misalignment 1.0e-03, x**2 + v" in stream.getvalue()
    True
    """

    def _draw(self, snapshot: Snapshot, stream: TextIO) -> None:
        if self._drawn is None:
            # Without ipywidgets a line of text serves as well, and a user need not hear of it.
            with warnings.catch_warnings(action="ignore"):
                from tqdm.auto import tqdm
            # The stream is handed on only if it was asked for: in a notebook tqdm knows better than
            # to use the standard error.
            self._drawn = tqdm(
                total=1.0, file=self.stream, leave=True, dynamic_ncols=True, bar_format=" "
            )
        left, right = _start(snapshot), _listed(_numbers(snapshot), _best(snapshot))
        room = _width(stream) - 1  # one column stays free: a full line makes some terminals wrap
        if _in_notebook(self._drawn):
            line = f"{_literal(left)} |{{bar}}| {_literal(_cut(right, _NOTEBOOK_WIDTH))}"
        elif room < _BAR_FROM - 1:
            line = _literal(_cut(_listed(left, right), room))
        else:
            right = _cut(right, room - len(left) - _BAR_WIDTH - len(" || "))
            line = f"{_literal(left)} |{{bar:{_BAR_WIDTH}}}| {_literal(right)}"
        self._drawn.bar_format, self._drawn.n = line, _share(snapshot.done)
        self._drawn.refresh()

    def _end(self, drawn: Any, latest: Snapshot | None) -> None:
        if drawn is None:
            return
        if _in_notebook(drawn):
            # A bar that ends early would turn red there, and an early end is good news.
            drawn.total = None
        drawn.close()


class ProgressTable(_Steps):
    """A table in the terminal, by rich: the best expression of each complexity under a line that
    says how far the step is.

    Where the output is not a terminal, a plain line is written at every tenth of the budget and at
    the end of the step.
    """

    _written: Snapshot | None = None

    def _draw(self, snapshot: Snapshot, stream: TextIO) -> None:
        if self._drawn is None:
            from rich.console import Console
            from rich.live import Live as RichLive

            # Not drawn by rich in a notebook: there it would need ipywidgets, and the line does it
            # better. The stream is asked and not rich, which believes FORCE_COLOR, and notebook
            # kernels set that.
            console = Console(file=stream, force_jupyter=False)
            if not stream.isatty() or console.is_dumb_terminal:
                last = self._written
                if last is None or _percent(snapshot) // 10 > _percent(last) // 10:
                    self._write(snapshot, stream)
                return
            # Standard output is left alone: it carries results. No thread draws: the engine says
            # when there is news.
            self._drawn = RichLive(console=console, auto_refresh=False, redirect_stdout=False)
            self._drawn.start()
            # A run that dies before it closes must not leave the user without a cursor.
            console.show_cursor(True)
        self._drawn.update(_drawing(snapshot, self._drawn.console), refresh=True)

    def _end(self, drawn: Any, latest: Snapshot | None) -> None:
        written, self._written = self._written, None
        if drawn is not None:
            drawn.stop()
        elif latest is not written and latest is not None and (stream := self._open_stream()):
            self._write(latest, stream)
            self._written = None

    def _write(self, snapshot: Snapshot, stream: TextIO) -> None:
        self._written = snapshot
        stream.write(_listed(_start(snapshot), _numbers(snapshot), _best(snapshot)) + "\n")
        stream.flush()


def _rows(snapshot: Snapshot) -> list[tuple[str, str, str]]:
    """Label, misalignment (empty if the engine did not send it) and expression of the details,
    simplest first, without those that a later one beats at no greater complexity.
    """
    rows: list[tuple[str, str, str]] = []
    least = math.inf
    for label, text in reversed(snapshot.details):
        if label.isdecimal():
            if int(label) >= least:
                continue
            least = int(label)
        found = _MISALIGNMENT.match(text)
        expression = _one_line(text[found.end() :] if found else text)
        # Four figures are enough to follow a search; the result has them all.
        expression = _LONG_NUMBER.sub(lambda one: f"{float(one.group()):.4g}", expression)
        rows.append((_one_line(label), found.group(1) if found else "", expression))
    return rows[::-1]


def _drawing(snapshot: Snapshot, console: Any) -> Any:
    from rich import box
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    def cut(text: str, style: str = "") -> Text:
        """As text, so that brackets in it are not markup."""
        return Text(text, style=style, no_wrap=True, overflow="ellipsis")

    heading = cut(_listed(_start(snapshot), _numbers(snapshot)), "bold")
    rows = _rows(snapshot)
    if not rows:
        return Group(heading)
    sizes = all(label.isdecimal() for label, _, _ in rows)
    judged = any(misalignment for _, misalignment, _ in rows)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_header=sizes, show_edge=False)
    table.add_column("complexity", justify="right" if sizes else "left", no_wrap=True)
    if judged:
        table.add_column("misalignment", justify="right", no_wrap=True)
    # The only column that may wrap, so the one that rich narrows; its cells are cut instead.
    table.add_column("best expression")
    # The last rows fit best: they are the ones to keep where not all have room under the four lines
    # above and below.
    for label, misalignment, expression in rows[-max(1, console.height - 4) :]:
        cells = (label, misalignment, expression) if judged else (label, expression)
        table.add_row(*map(cut, cells))
    return Group(heading, table)


def _start(snapshot: Snapshot) -> str:
    return f"{_one_line(snapshot.step)} {_percent(snapshot):3d}%"


def _numbers(snapshot: Snapshot) -> str:
    left, rate = snapshot.seconds_left, snapshot.rate
    is_left, is_rate = (value is not None and math.isfinite(value) for value in (left, rate))
    return _listed(
        f"{duration(max(left or 0.0, 0.0))} left" if is_left else "",
        f"{_short(rate or 0.0)} eval/s" if is_rate else "",
    )


def _best(snapshot: Snapshot) -> str:
    _, misalignment, expression = (_rows(snapshot) or [("", "", "")])[-1]
    return _listed(f"misalignment {misalignment}" if misalignment else "", expression)


def _share(done: float) -> float:
    return min(max(done, 0.0), 1.0) if math.isfinite(done) else 0.0


def _percent(snapshot: Snapshot) -> int:
    return math.floor(100 * _share(snapshot.done) + 1e-9)


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """A time as people say it: 12 s, 2:05 min, 1:30 h."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


def _short(number: float) -> str:
    """Three figures: 12, 12k, 1.23M."""
    for unit in ("", "k", "M"):
        if abs(number) < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}G" if abs(number) < 999.5 else f"{number:.0f}G"


def _one_line(text: str) -> str:
    return shown(" ".join(text.split()))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return shutil.get_terminal_size().columns


def _in_notebook(bar: Any) -> bool:
    return hasattr(bar, "container")
