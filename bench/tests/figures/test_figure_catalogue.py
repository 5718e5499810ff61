import pytest
from typer import Typer
from typer.main import get_command

from closedform_bench.commands.bench import bench
from closedform_bench.commands.reproduce import reproduce
from closedform_bench.figures.figure_catalogue import FIGURE_PARTS, FIGURE_TABLES
from closedform_bench.figures.marked_pages import make_pages
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.runner import CHECKOUT


def test_every_part_is_short_and_has_its_table():
    used = {name for table in FIGURE_TABLES.values() for name in table.parts}
    assert used == set(FIGURE_PARTS)
    assert max(part.minutes for part in FIGURE_PARTS.values()) < 120


@pytest.mark.parametrize("part", FIGURE_PARTS.values(), ids=lambda part: part.name)
def test_the_command_of_a_part_is_understood(part):
    program, command, *words = [*part.command(0, processor=True), *part.kept_by]
    if program == "closedform":
        app = Typer()
        app.command()({"bench": bench, "reproduce": reproduce}[command])
        assert get_command(app).make_context(command, words).params["as_json"]
    else:
        script = (CHECKOUT / command).read_text(encoding="utf-8")
        assert [word for word in words if word.startswith("--") and f'"{word}"' not in script] == []


@pytest.mark.parametrize("table", FIGURE_TABLES.values(), ids=lambda table: table.name)
def test_the_page_of_a_table_is_there(table):
    assert (CHECKOUT / "docs" / table.page).is_file()


def test_the_pages_say_what_is_stored():
    """Figures are never typed: a page that was edited, or not written again, shows here."""
    stored = MeasurementStore(CHECKOUT / "bench" / "measurements")
    pages = make_pages([*FIGURE_TABLES.values()], FIGURE_PARTS, stored, CHECKOUT / "docs")
    assert [*pages.changed] == []
    assert "feynman" in pages.written
