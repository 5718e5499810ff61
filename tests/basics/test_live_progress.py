"""Progress that can be watched: what stands on the line and in the table, and that nothing about it
can hurt a search.
"""

import io
import re
import subprocess
import sys

import pytest

from closedform.basics.progress import Live, ProgressTable, Silent, Snapshot, choose_progress
from closedform.errors import ProgressError

# As the term search sends it, and as evolution does.
TERMS = Snapshot("terms", 0.42, 3.4, (("2", "4.0e-01  x"), ("5", "1.2e-03  v**2 + x")), 118_400.0)
EVOLUTION = Snapshot("evolution", 0.1, 125.0, (("2", "x"), ("6", "sin(x) + v**2")), 2_300_000.0)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm")


def last_line(stream: io.StringIO) -> str:
    return stream.getvalue().rstrip("\n").split("\r")[-1]


@pytest.mark.parametrize("show", [None, False])
def test_nothing_is_shown_unless_asked_for(show, capsys):
    progress = choose_progress(show)
    progress.show(TERMS)
    progress.close()
    assert progress == Silent()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("show", "kind"), [(True, Live), ("line", Live), ("table", ProgressTable)])
def test_kinds_by_name(show, kind):
    assert type(choose_progress(show)) is kind


def test_an_object_is_taken_as_it_is():
    mine = Silent()
    assert choose_progress(mine) is mine


@pytest.mark.parametrize(
    ("show", "words"),
    [("tabel", "did you mean 'table'"), ("Line", "did you mean 'line'"), ("zzz", "Known: line")],
)
def test_unknown_text(show, words):
    with pytest.raises(ProgressError, match=words):
        choose_progress(show)


@pytest.mark.parametrize("show", [1, Silent, object()])
def test_what_is_no_progress(show):
    with pytest.raises(ProgressError, match="show and close"):
        choose_progress(show)


def test_the_line_of_terms():
    stream = io.StringIO()
    live = Live(stream)
    live.show(TERMS)
    assert last_line(stream).startswith("terms  42% |####")
    assert (
        last_line(stream)
        .rstrip()
        .endswith("| 3 s left, 118k eval/s, misalignment 1.2e-03, v**2 + x")
    )
    live.close()


def test_the_line_of_evolution_has_no_misalignment():
    stream = io.StringIO()
    live = Live(stream)
    live.show(EVOLUTION)
    assert last_line(stream).rstrip().endswith("| 2:05 min left, 2.3M eval/s, sin(x) + v**2")
    live.close()


def test_one_line_per_step():
    stream = io.StringIO()
    live = Live(stream)
    for snapshot in (TERMS, TERMS, EVOLUTION):
        live.show(snapshot)
    live.close()
    live.show(TERMS)  # the portfolio goes on after an engine has closed
    live.close()
    steps = [
        line.split("\r")[-1].split()[0]
        for line in stream.getvalue().splitlines(keepends=False)
        if line.strip()
    ]
    assert stream.getvalue().count("\n") == 3
    assert steps[-1] == "terms"


@pytest.mark.parametrize("width", ["20", "60", "80", "120"])
@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_what_is_wider_than_the_terminal_is_cut(kind, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    stream = Terminal()
    progress = kind(stream)
    progress.show(Snapshot("terms", 0.5, 3.0, (("9", "1.0e-03  " + "x + " * 100 + "v"),), 1000.0))
    progress.close()
    lines = [line for part in visible(stream.getvalue()).split("\n") for line in part.split("\r")]
    assert max(map(len, lines)) <= int(width)
    assert "…" in stream.getvalue()


def visible(text: str) -> str:
    """Without the escape codes."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_the_table_of_terms():
    stream = Terminal()
    table = ProgressTable(stream)
    table.show(TERMS)
    lines = [line.split() for line in visible(stream.getvalue()).splitlines()]
    assert ["terms", "42%,", "3", "s", "left,", "118k", "eval/s"] in lines
    assert ["complexity", "misalignment", "best", "expression"] in lines
    assert ["5", "1.2e-03", "v**2", "+", "x"] in lines
    table.close()
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l")


def test_the_table_of_evolution_has_no_empty_column():
    stream = Terminal()
    table = ProgressTable(stream)
    table.show(EVOLUTION)
    table.close()
    assert "misalignment" not in stream.getvalue()
    assert ["6", "sin(x)", "+", "v**2"] in [
        line.split() for line in visible(stream.getvalue()).splitlines()
    ]


def test_the_cursor_is_there_while_the_table_is_drawn():
    stream = Terminal()
    table = ProgressTable(stream)
    table.show(TERMS)
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l")
    table.close()


def test_a_row_that_a_simpler_and_better_one_beats_is_left_out():
    stream = Terminal()
    table = ProgressTable(stream)
    table.show(
        Snapshot(
            "evolution", 0.1, None, (("2", "first"), ("7", "beaten"), ("5", "older"), ("5", "best"))
        )
    )
    table.close()
    assert "first" in stream.getvalue()
    assert "best" in stream.getvalue()
    assert "beaten" not in stream.getvalue()
    assert "older" not in stream.getvalue()


def test_a_low_terminal_keeps_the_best_rows(monkeypatch):
    monkeypatch.setenv("LINES", "10")
    stream = Terminal()
    table = ProgressTable(stream)
    table.show(
        Snapshot(
            "terms", 0.1, None, tuple((str(i), f"{30 - i}.0e-03  row{i}.") for i in range(1, 30))
        )
    )
    assert "row29." in stream.getvalue()
    assert "row1." not in stream.getvalue()
    assert len(visible(stream.getvalue()).splitlines()) <= 10
    table.close()


@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_braces_brackets_and_line_breaks_are_text(kind):
    stream = Terminal()
    progress = kind(stream)
    progress.show(Snapshot("a {step}", 0.5, None, (("3", "x[0] + {y}\n[/bold]"),)))
    progress.close()
    assert "x[0] + {y} [/bold]" in visible(stream.getvalue())


@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_long_numbers_are_shown_with_four_figures(kind):
    stream = Terminal()
    progress = kind(stream)
    progress.show(
        Snapshot(
            "terms",
            0.5,
            None,
            (("3", "1.0e-03  x - 0.14816755873519005*y + 2.5 + 1.23456789e-07*z"),),
        )
    )
    progress.close()
    assert "x - 0.1482*y + 2.5 + 1.235e-07*z" in visible(stream.getvalue())


@pytest.mark.parametrize("forced", ["", "1"])
def test_plain_lines_where_there_is_no_terminal(forced, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", forced)  # as notebook kernels do
    stream = io.StringIO()
    table = ProgressTable(stream)
    for percent in range(0, 58):
        table.show(Snapshot("terms", percent / 100, 1.0, (("1", "x"),), 10.0))
    table.close()
    lines = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"terms {percent:3d}%" for percent in (0, 10, 20, 30, 40, 50, 57)
    ]
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("kind", [Live, ProgressTable])
@pytest.mark.parametrize("stream_kind", [io.StringIO, Terminal])
def test_closing_without_or_twice_is_harmless(kind, stream_kind):
    stream = stream_kind()
    progress = kind(stream)
    progress.close()
    assert stream.getvalue() == ""
    progress.show(TERMS)
    progress.close()
    text = stream.getvalue()
    progress.close()
    assert stream.getvalue() == text


@pytest.mark.parametrize("kind", [Live, ProgressTable])
@pytest.mark.parametrize("stream_kind", [io.StringIO, Terminal])
@pytest.mark.parametrize(
    "snapshot",
    [
        Snapshot("terms", 0.0),
        Snapshot("", float("nan"), float("inf"), (), float("nan")),
        Snapshot("terms", 7.0, -1.0, (("", ""),), 0.0),
        Snapshot("terms", -1.0, 1e9, (("layer", "no expression"),), 1e15),
    ],
)
def test_odd_news_are_harmless(kind, stream_kind, snapshot):
    stream = stream_kind()
    progress = kind(stream)
    progress.show(snapshot)
    progress.close()
    assert "nan" not in stream.getvalue()
    assert "inf" not in stream.getvalue()


@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_an_interrupt_while_drawing_can_be_closed_and_gone_on_from(kind):
    class Interrupted(Terminal):
        armed = False

        def write(self, text: str) -> int:
            if self.armed:
                self.armed = False
                raise KeyboardInterrupt
            return super().write(text)

    stream = Interrupted()
    progress = kind(stream)
    progress.show(TERMS)
    stream.armed = True
    with pytest.raises(KeyboardInterrupt):
        progress.show(TERMS)
    progress.close()
    progress.show(EVOLUTION)
    progress.close()
    assert "sin(x) + v**2" in visible(stream.getvalue())


@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_results_on_the_standard_output_are_left_alone(kind, capsys):
    progress = kind()
    progress.show(TERMS)
    sys.stdout.write("result\n")
    progress.close()
    out, err = capsys.readouterr()
    assert out == "result\n"
    assert "v**2 + x" in err


@pytest.mark.parametrize("kind", [Live, ProgressTable])
def test_no_standard_error_is_harmless(kind, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    progress = kind()
    progress.show(TERMS)
    progress.close()


def test_nothing_is_imported_before_it_is_used():
    code = (
        "import sys, closedform.basics.progress as p; p.choose_progress('table'); "
        "p.choose_progress('line')"
    )
    check = "; sys.exit(bool({'tqdm', 'rich'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code + check], check=False).returncode == 0
