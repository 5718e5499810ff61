import matplotlib.pyplot as plt
import numpy as np
import pytest

import closedform as cf
from closedform.errors import ConceptError
from closedform.interpretation_views import coefficients, report_data
from closedform.pipeline import interpret_field
from closedform.searching.budget import Budget

BUDGET = Budget(evaluations=800)


@pytest.fixture(scope="module")
def found():
    """A concept with a fitted constant, under a little noise, with a hypothesis."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (500, 2))
    truth = cf.parse("x**2 + 1.37*v**2", names=["x", "v"])
    gradients = truth.gradient(points) + 0.01 * rng.normal(size=(500, 2))
    field = cf.GradientField.from_arrays(points, gradients, latents=np.exp(-truth(points)), names=["x", "v"])
    return interpret_field(field, engine="terms", budget=BUDGET, rng=0, hypothesis="x**2 + v**2", title="Neuron fc:0")


def test_the_report_has_everything(found):
    data = report_data(found)
    assert data.title == "Neuron fc:0"
    assert data.status == found.verdict.status
    assert data.choice is not None
    assert data.choice.expression == found.concept
    assert [candidate.complexity for candidate in data.candidates] == [entry.complexity for entry in found.front]
    assert len(data.reasons) == 6
    assert {"Misalignment", "Rank correlation", "Without x"} <= {row.label for row in data.evidence}
    assert data.hypothesis is not None
    assert data.hypothesis.holds is False
    assert data.directions is not None
    assert data.settings["budget"] == "800 evaluations"


def test_fitted_constants_have_intervals(found):
    (coefficient,) = report_data(found).coefficients
    ratio = coefficient.value if coefficient.value > 1 else 1 / coefficient.value
    assert ratio == pytest.approx(1.37, abs=0.03)
    assert coefficient.low < coefficient.value < coefficient.high
    assert coefficients(cf.parse("x + v/2"), ()) == ()


def test_pictures_are_drawn_into_the_given_axes(found):
    figure, axes = plt.subplots(1, 5)
    drawn = [
        getattr(found, name)(ax)
        for name, ax in zip(
            ("plot_front", "plot_phi", "plot_angles", "plot_directions", "plot_coefficients"), axes, strict=True
        )
    ]
    assert drawn == list(axes)
    assert all(ax.has_data() for ax in axes)
    plt.close(figure)


def test_page_and_notebook(found, tmp_path):
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Neuron fc:0" in page
    assert found.verdict.sentence in page
    assert "<math" in found._repr_html_()


def test_without_a_formula_the_page_says_so(tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, (50, 1))
    nothing = interpret_field(cf.GradientField.from_arrays(points, points, names=["x"]), budget=BUDGET, rng=0)
    nothing.report(tmp_path / "page.html")
    assert "every function fits" in (tmp_path / "page.html").read_text()
    with pytest.raises(ConceptError, match="no formula to show"):
        nothing.plot_phi()


def test_an_answer_at_the_prompt_is_one_short_line(found):
    """It was 180 kB of numbers."""
    assert repr(found).startswith("<Interpretation: ")
    assert len(repr(found)) < 200
    assert found.verdict.status in repr(found)
