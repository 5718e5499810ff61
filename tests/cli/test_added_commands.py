"""Commands of other distributions: added by entry point, and known where they are not installed."""

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from closedform.cli import app as application
from closedform.cli.app import BENCH_COMMANDS, ENTRY_POINT, add_commands
from closedform.cli.further_commands import same
from closedform.errors import ClosedformError, MissingDependencyError


def greet(name: str, loud: bool = False) -> None:
    """Say hello."""
    typer.echo(f"hello {name}".upper() if loud else f"hello {name}")


@pytest.fixture
def make_app(monkeypatch):
    """An application with one command of its own, and what the entry points of some names and
    values add.
    """

    def make(**offered: str) -> typer.Typer:
        points = [EntryPoint(name, value, ENTRY_POINT) for name, value in offered.items()]
        monkeypatch.setattr(
            application, "entry_points", lambda *, group: points if group == ENTRY_POINT else []
        )
        monkeypatch.setattr(EntryPoint, "load", lambda point: _load(point.value))
        app = typer.Typer(rich_markup_mode=None)
        app.command()(same)
        add_commands(app)
        return app

    return make


def _load(value: str):
    if value == "greet":
        return greet
    raise ImportError(f"cannot import {value}")


def test_an_entry_point_is_a_command(make_app):
    app = make_app(hello="greet")
    assert CliRunner().invoke(app, ["hello", "you", "--loud"]).stdout == "HELLO YOU\n"
    assert "Say hello." in CliRunner().invoke(app, ["--help"]).stdout


@pytest.mark.parametrize("name", BENCH_COMMANDS)
@pytest.mark.parametrize("words", [[], ["all", "--profile", "quick"], ["--help"]])
def test_a_command_that_is_not_installed_says_which_line_installs_it(make_app, name, words):
    result = CliRunner().invoke(make_app(), [name, *words])
    assert isinstance(result.exception, MissingDependencyError)
    assert f"`closedform {name}`" in str(result.exception)
    assert str(result.exception).endswith("pip install ./bench")
    assert result.stdout == ""


def test_what_is_installed_is_not_refused(make_app):
    app = make_app(bench="greet")
    assert CliRunner().invoke(app, ["bench", "you"]).stdout == "hello you\n"
    assert isinstance(CliRunner().invoke(app, ["reproduce"]).exception, MissingDependencyError)


def test_a_broken_distribution_costs_its_own_command_only(make_app):
    app = make_app(hello="greet", other="nothing")
    assert CliRunner().invoke(app, ["hello", "you"]).exit_code == 0
    error = CliRunner().invoke(app, ["other", "--help"]).exception
    assert isinstance(error, ClosedformError)
    assert (
        "`closedform other` of nothing cannot be loaded: ImportError: cannot import nothing"
        in str(error)
    )


def test_our_own_commands_cannot_be_taken(make_app):
    result = CliRunner().invoke(make_app(same="greet"), ["same", "x", "2*x"])
    assert "hello" not in result.stdout
    assert "same" in result.stdout
