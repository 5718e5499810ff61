"""Tables are put between the markers of their pages, and nothing else changes."""

import pytest
from typer import Typer
from typer.testing import CliRunner

from closedform_bench.commands.figures_command import figures
from closedform_bench.figures import figure_catalogue
from closedform_bench.figures.marked_pages import make_pages
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.part import FigurePart, FigureTable, Measurement

PARTS = {name: FigurePart(name, ("closedform", name, "{seed}"), 1) for name in ("a", "b", "c")}


def tabulate(measurements):
    return "| x |\n|---|\n" + "\n".join(f"| {one.result} |" for one in measurements)


TABLES = {
    "one": FigureTable("one", "page.md", ("a",), tabulate),
    "two": FigureTable("two", "page.md", ("b", "c"), tabulate),
    "whole": FigureTable("whole", "other.md", ("a",), tabulate, is_whole_page=True),
}
PAGE = """# Title

before
<!-- figures:one -->
old one
<!-- /figures:one -->
between

<!-- figures:two -->

old two

<!-- /figures:two -->
after | a table |
"""


def measured(name, result, *, seed=0, code="abc1234", day="2026-11-16"):
    command = f"closedform {name} {seed} --processor"
    versions = {"closedform": "0.1.0"}
    return Measurement(name, command, seed, code, f"{day}T10:00:00+00:00", result, versions)


@pytest.fixture
def store(tmp_path):
    return MeasurementStore(tmp_path / "runs")


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "page.md").write_text(PAGE)
    (folder / "other.md").write_text("old page\n")
    return folder


def write(store, docs, **options):
    pages = make_pages(list(TABLES.values()), PARTS, store, docs, **options)
    pages.write()
    return pages


def test_a_table_takes_the_place_of_the_old_one_and_says_where_it_comes_from(store, docs):
    store.keep(measured("a", "first"))
    store.keep(measured("a", "second", seed=7, day="2026-11-17"))
    pages = write(store, docs)
    origin = (
        "Measured by `closedform figures run one --seed SEED --processor`: version 0.1.0 "
        "(abc1234), seeds 0 and 7, 2026-11-16 to 2026-11-17."
    )
    table = f"\n\n| x |\n|---|\n| first |\n| second |\n\n{origin}\n\n"
    assert (docs / "page.md").read_text() == PAGE.replace("\nold one\n", table)
    assert (docs / "other.md").read_text().startswith("| x |")
    assert pages.written == ["one", "whole"]
    assert pages.remarks == ["two stays as it is: no results of b and c"]
    assert not write(store, docs).changed


def test_a_table_that_lacks_a_part_stays_unless_asked_for(store, docs):
    store.keep(measured("b", "there"))
    assert write(store, docs).remarks[1] == "two stays as it is: no results of c"
    assert (docs / "page.md").read_text() == PAGE
    write(store, docs, partial=True)
    text = (docs / "page.md").read_text()
    assert "| there |" in text
    assert "seed 0, 2026-11-16. Not measured: c." in text


def test_older_code_and_other_commands_do_not_count(store, docs):
    store.keep(measured("a", "older", seed=1, code="old", day="2026-11-15"))
    store.keep(measured("a", "newer"))
    other = Measurement("b", "closedform b 0 --count 3", 0, "abc1234", "2026-11-16", "other")
    store.keep(other)
    store.keep(measured("c", "there"))
    assert write(store, docs).remarks == ["two stays as it is: no results of b"]
    text = (docs / "page.md").read_text()
    assert "| newer |" in text
    assert "| older |" not in text


@pytest.mark.parametrize("damage", [("<!-- /figures:one -->", ""), ("<!-- figures:one -->", "")])
def test_a_page_without_both_markers_is_named_and_not_touched(store, docs, damage):
    text = PAGE.replace(*damage)
    (docs / "page.md").write_text(text)
    store.keep(measured("a", "first"))
    assert "one has no markers in page.md" in write(store, docs).remarks
    assert (docs / "page.md").read_text() == text


def test_the_command_lists_writes_and_checks(store, docs, monkeypatch):
    monkeypatch.setattr(figure_catalogue, "FIGURE_PARTS", PARTS)
    monkeypatch.setattr(figure_catalogue, "FIGURE_TABLES", TABLES)
    app = Typer()
    app.command()(figures)

    def call(*words):
        return CliRunner().invoke(app, [*words, "--store", str(store.path), "--docs", str(docs)])

    store.keep(measured("a", "first"))
    assert "seed 0 (abc1234, 2026-11-16)" in call("list").stdout
    checked = call("write", "--check")
    assert (checked.exit_code, checked.stdout.count("would change")) == (1, 2)
    assert (docs / "page.md").read_text() == PAGE
    written = call("write", "one")
    assert written.exit_code == 0
    assert (docs / "other.md").read_text() == "old page\n"
    assert call("write", "--check", "one").exit_code == 0
    wrong = call("run", "onne")
    assert wrong.exit_code == 2
    assert "did you mean 'one'" in " ".join(wrong.output.split())
