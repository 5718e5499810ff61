"""Progress that can be watched: one live line (terminal and notebook), or a table with the best
expression per complexity.
"""

import math
import os
import re
import shutil
import sys
import warnings
from dataclasses import dataclass
from typing import Any, TextIO, cast

from closedform.basics.keywords import suggestion
from closedform.basics.progress import Progress, Silent, Snapshot
from closedform.errors import ProgressError, shown

ProgressLike = bool | str | Progress | None
"""What a public function takes as `progress`."""

_KINDS = ("line", "table")
_NOTEBOOK_WIDTH, _BAR_WIDTH = 120, 10
_BAR_FROM = 100
"""In fewer columns the line has no bar: the expression needs the room more."""
_MISALIGNMENT = re.compile(r"(\d(?:\.\d+)?e[+-]\d+)\s+(?=\S)")
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{4,}(?:e[+-]?\d+)?(?![\w.])")


def choose_progress(show: "bool | str | Progress | None") -> Progress:
    """The progress that is asked for.

    Parameters
    ----------
    show : bool, str, Progress or None
        True or ``"line"`` shows one live line, ``"table"`` a table in the terminal, False nothing.
        None shows a line where a person is watching: in a terminal or a notebook. An object with
        the methods ``show`` and ``close`` is taken as it is.

    Raises
    ------
    ProgressError
        If it is none of these.

    Examples
    --------
    >>> choose_progress(False)
    Silent()
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


class Live:
    """One line that is drawn again and again, by tqdm; in a notebook it is a widget, where
    ipywidgets is installed.

    Every step has its own line, which stays when the step is over.

    Parameters
    ----------
    stream : text file or None
        Where to write; the standard error if None.

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

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        self._bar: Any = None
        self._step = ""

    def show(self, snapshot: Snapshot) -> None:
        """Draw the line."""
        stream = sys.stderr if self.stream is None else self.stream
        if stream is None or stream.closed:  # no standard error: a window application
            return
        if self._bar is not None and snapshot.step != self._step:
            self.close()
        if self._bar is None:
            # The stream is handed on only if it was asked for: in a notebook tqdm knows better than
            # to use the standard error.
            self._bar = _tqdm()(
                total=1.0, file=self.stream, leave=True, dynamic_ncols=True, bar_format=" "
            )
            self._step = snapshot.step
        notebook = _in_notebook(self._bar)
        done = _share(snapshot.done)
        left = _start(snapshot)
        right = _listed(_numbers(snapshot), _best(snapshot))
        if notebook:
            self._bar.bar_format = (
                f"{_literal(left)} |{{bar}}| {_literal(_cut(right, _NOTEBOOK_WIDTH))}"
            )
        elif (
            room := _width(stream) - 1
        ) < _BAR_FROM - 1:  # one column stays free: a full line makes some terminals wrap
            self._bar.bar_format = _literal(_cut(_listed(left, right), room))
        else:
            right = _cut(right, room - len(left) - _BAR_WIDTH - len(" || "))
            self._bar.bar_format = f"{_literal(left)} |{{bar:{_BAR_WIDTH}}}| {_literal(right)}"
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        """Leave the line as it is and go to the next."""
        bar, self._bar = self._bar, None
        if bar is None:
            return
        if _in_notebook(bar):
            # a bar that ends early would turn red there, and a search that is done early is good
            # news
            bar.total = None
        bar.close()


class ProgressTable:
    """A table in the terminal, by rich: the best expression of each complexity under a line that
    says how far the step is.

    Where the output is not a terminal, a plain line is written at every tenth of the budget and at
    the end of the step.

    Parameters
    ----------
    stream : text file or None
        Where to write; the standard error if None.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> table = ProgressTable(stream)
    >>> table.show(Snapshot("terms", 0.5, 3.0, (("4", "1.0e-03  x**2 + v"),), 12_000.0))
    >>> stream.getvalue()
    'terms  50%, 3 s left, 12k eval/s, misalignment 1.0e-03, x**2 + v\\n'
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        self._live: Any = None
        self._latest: Snapshot | None = None
        self._written: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Draw the table."""
        stream = sys.stderr if self.stream is None else self.stream
        if stream is None or stream.closed:
            return
        if self._latest is not None and snapshot.step != self._latest.step:
            self.close()
        self._latest = snapshot
        if self._live is None:
            from rich.console import Console

            # Not drawn by rich in a notebook: there it would need ipywidgets, and the line does it
            # better. The stream is asked and not rich, which believes FORCE_COLOR, and notebook
            # kernels set that.
            console = Console(file=stream, force_jupyter=False)
            if not stream.isatty() or console.is_dumb_terminal:
                self._write(snapshot, stream)
                return
            from rich.live import Live as RichLive

            # Standard output is left alone: it carries results. No thread draws: the engine says
            # when there is news.
            self._live = RichLive(console=console, auto_refresh=False, redirect_stdout=False)
            self._live.start()
            console.show_cursor(
                True
            )  # a run that dies before it closes must not leave the user without one
        self._live.update(_drawing(snapshot, self._live.console), refresh=True)

    def close(self) -> None:
        """Leave the table as it is and go to the line after it."""
        live, latest, written = self._live, self._latest, self._written
        self._live = self._latest = self._written = None
        if live is not None:
            live.stop()
        elif latest is not None and latest is not written:
            stream = sys.stderr if self.stream is None else self.stream
            if stream is not None and not stream.closed:
                self._write(latest, stream, at_the_end=True)
                self._written = None

    def _write(self, snapshot: Snapshot, stream: TextIO, *, at_the_end: bool = False) -> None:
        last = self._written
        if last is None or at_the_end or _percent(snapshot) // 10 > _percent(last) // 10:
            self._written = snapshot
            stream.write(_listed(_start(snapshot), _numbers(snapshot), _best(snapshot)) + "\n")
            stream.flush()


@dataclass(frozen=True, slots=True)
class _TableRow:
    """One detail; the misalignment is empty if the engine did not send it."""

    label: str
    misalignment: str
    expression: str


def _rows(snapshot: Snapshot) -> list[_TableRow]:
    """The details, simplest first, without those that a later one beats at no greater
    complexity.
    """
    rows: list[_TableRow] = []
    least = math.inf
    for label, text in reversed(snapshot.details):
        if label.isdecimal():
            if int(label) >= least:
                continue
            least = int(label)
        found = _MISALIGNMENT.match(text)
        expression = text[found.end() :] if found else text
        rows.append(
            _TableRow(
                _one_line(label),
                found.group(1) if found else "",
                _short_numbers(_one_line(expression)),
            )
        )
    return rows[::-1]


def _drawing(snapshot: Snapshot, console: Any) -> Any:
    from rich import box
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    heading = Text(
        _listed(_start(snapshot), _numbers(snapshot)),
        style="bold",
        no_wrap=True,
        overflow="ellipsis",
    )
    rows = _rows(snapshot)
    if not rows:
        return Group(heading)
    sizes = all(row.label.isdecimal() for row in rows)
    judged = any(row.misalignment for row in rows)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_header=sizes, show_edge=False)
    table.add_column("complexity", justify="right" if sizes else "left", no_wrap=True)
    if judged:
        table.add_column("misalignment", justify="right", no_wrap=True)
    table.add_column(
        "best expression"
    )  # the only column that may wrap, so the one that rich narrows; its cells are cut instead
    # The last rows fit best: they are the ones to keep where not all have room under the four lines
    # above and below.
    for row in rows[-max(1, console.height - 4) :]:
        cells = (
            (row.label, row.misalignment, row.expression) if judged else (row.label, row.expression)
        )
        table.add_row(
            *(Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells)
        )  # as text: brackets in it are no markup
    return Group(heading, table)


def _numbers(snapshot: Snapshot) -> str:
    left, rate = snapshot.seconds_left, snapshot.rate
    parts = []
    if left is not None and math.isfinite(left):
        parts.append(f"{_duration(max(left, 0.0))} left")
    if rate is not None and math.isfinite(rate):
        parts.append(f"{_short(rate)} eval/s")
    return ", ".join(parts)


def _best(snapshot: Snapshot) -> str:
    rows = _rows(snapshot)
    if not rows:
        return ""
    best = rows[-1]
    return (
        f"misalignment {best.misalignment}, {best.expression}"
        if best.misalignment
        else best.expression
    )


def _share(done: float) -> float:
    return min(max(done, 0.0), 1.0) if math.isfinite(done) else 0.0


def _percent(snapshot: Snapshot) -> int:
    return math.floor(100 * _share(snapshot.done) + 1e-9)


def _start(snapshot: Snapshot) -> str:
    return f"{_one_line(snapshot.step)} {_percent(snapshot):3d}%"


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


def _short(number: float) -> str:
    """Three figures: 12, 12k, 1.23M."""
    for unit in ("", "k", "M", "G"):
        if abs(number) < 999.5 or unit == "G":
            return f"{number:.3g}{unit}" if abs(number) < 999.5 else f"{number:.0f}{unit}"
        number /= 1000
    raise AssertionError


def _short_numbers(expression: str) -> str:
    """Four figures are enough to follow a search; the result has them all."""
    return _LONG_NUMBER.sub(lambda found: f"{float(found.group()):.4g}", expression)


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


def _tqdm() -> Any:
    with warnings.catch_warnings():
        # Without ipywidgets a line of text serves as well, and a user need not hear of it.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    return tqdm


def _in_notebook(bar: Any) -> bool:
    return hasattr(bar, "container")
