"""What an answer can do once this room is imported, and what that import costs."""

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import closedform.report  # noqa: F401  gives answers their abilities
from closedform.interpretation import answer as abilities
from closedform.interpretation.answer import AbilityError

PLOTS = (
    "plot_front",
    "plot_phi",
    "plot_angles",
    "plot_directions",
    "plot_coefficients",
    "plot_importance",
)
ABILITIES = {"report", "notebook", *PLOTS}


def run(code: str) -> str:
    """What a new interpreter prints."""
    command = [sys.executable, "-c", code]
    return subprocess.check_output(command, text=True, timeout=120).strip()


def test_the_import_gives_every_ability_and_stays_light():
    heavy = ("matplotlib", "jinja2", "markupsafe", "sympy", "sklearn", "torch", "pandas")
    code = f"""
import sys
import closedform.report
from closedform.interpretation.answer import _ABILITIES
print(sorted(_ABILITIES))
print([name for name in {heavy} if name in sys.modules])
"""
    assert run(code).splitlines() == [str(sorted(ABILITIES)), "[]"]


def test_the_answer_does_not_know_this_room():
    code = "import sys, closedform.interpretation.answer; print(*sys.modules)"
    assert "closedform.report" not in run(code).split()


def test_what_was_not_imported_says_what_to_do(example, monkeypatch):
    monkeypatch.setattr(abilities, "_ABILITIES", {})
    with pytest.raises(AbilityError, match=r"answer\.plot_front.*import .*closedform\.report"):
        example.plot_front()


@pytest.mark.parametrize("name", ["load_interpretation", "verify"])
def test_what_gives_answers_lets_them_be_extended(name):
    """A loaded answer could not be extended in a new process."""
    code = f"""
import closedform
closedform.{name}
from closedform.interpretation.answer import _ABILITIES
print({{"extend", "replace_in", "report"}} <= set(_ABILITIES))
"""
    assert run(code) == "True"


@pytest.mark.parametrize("name", PLOTS)
def test_pictures_take_axes_by_name(name):
    function = abilities._ABILITIES[name]
    assert list(signature(function).parameters) == ["interpretation", "ax"]


def test_the_notebook_needs_no_package_of_the_extra():
    code = f"""
import sys
sys.path.append({str(Path(__file__).parents[1] / "support")!r})
for name in ("jinja2", "markupsafe", "matplotlib"):
    sys.modules[name] = None
from example_interpretation import example_interpretation
import closedform.report
print(example_interpretation()._repr_html_()[:4])
"""
    assert run(code) == "<div"
