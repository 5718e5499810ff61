"""Units are shown wherever a formula is."""

from dataclasses import replace

import pytest

import closedform as cf
from example_interpretation import example_interpretation


@pytest.fixture(scope="module")
def answer() -> cf.Interpretation:
    import closedform.report  # noqa: F401

    example = example_interpretation()
    units = dict.fromkeys(example.names, "m/s")
    return replace(example, units=cf.Units(units))


def test_units_stand_in_the_front_the_notebook_and_latex(answer) -> None:
    assert "v  [m/s]" in repr(answer.front)
    assert "The constant 0.5001 carries s**2/m**2." in answer._repr_html_()
    assert answer.latex().endswith(r"\quad \left[\mathrm{1}\right]")
    plain = replace(answer, units=None)
    assert "[m" not in repr(plain.front)
    assert plain.concept is not None
    assert plain.latex() == plain.concept.latex()


def test_units_stand_on_the_page(answer, tmp_path) -> None:
    answer.report(tmp_path / "page.html")
    assert "The constant 0.5001 carries s**2/m**2." in (tmp_path / "page.html").read_text()
