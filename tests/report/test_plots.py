"""What is drawn is looked at by people; here, that it is the right data on the right axes, and that nothing global changes."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from closedform.report.errors import ReportError
from closedform.report.figure_data import CandidateView, Coefficient, DirectionField, ReportData
from closedform.report.plots import GREEN, plot_angles, plot_coefficients, plot_directions, plot_front, plot_phi

PLOTS = {
    "front": (plot_front, lambda data: data),
    "phi": (plot_phi, lambda data: data.choice),
    "angles": (plot_angles, lambda data: data.choice),
    "directions": (plot_directions, lambda data: data.directions),
    "coefficients": (plot_coefficients, lambda data: data.coefficients),
}


def bar_tops(ax: Axes) -> list[float]:
    return [bar.get_y() + bar.get_height() for bar in ax.patches if isinstance(bar, Rectangle)]


def drawn(ax: Axes) -> None:
    """Draw for real, which is when text is typeset."""
    assert isinstance(ax.figure, Figure)
    ax.figure.savefig(BytesIO(), format="svg")


@pytest.mark.parametrize("name", PLOTS)
def test_axes_in_axes_out(name, example, pyplot):
    plot, part = PLOTS[name]
    settings = dict(pyplot.rcParams)
    _, ax = pyplot.subplots()
    assert plot(part(example), ax=ax) is ax
    assert len(pyplot.get_fignums()) == 1
    own = plot(part(example))
    assert len(pyplot.get_fignums()) == 2
    drawn(own)
    assert dict(pyplot.rcParams) == settings


def test_the_front_has_a_bar_for_each_candidate_and_marks_the_choice(example, pyplot):
    ax = plot_front(replace(example, steepest_drop=1))
    assert ax.get_yscale() == "log"
    assert np.allclose(bar_tops(ax), [candidate.misalignment for candidate in example.candidates])
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(c.complexity) for c in example.candidates]
    greens = [index for index, bar in enumerate(ax.patches) if bar.get_facecolor() == pyplot.matplotlib.colors.to_rgba(GREEN)]
    assert greens == [example.chosen]
    assert {text.get_text(): int(text.xy[0]) for text in ax.texts if isinstance(text, Annotation)} == {
        "chosen": example.chosen,
        "steepest drop": 1,
    }


def test_a_perfect_candidate_has_a_bar(example, pyplot):
    perfect = replace(example.candidates[-1], misalignment=0.0, interval=(0.0, 0.0))
    ax = plot_front(replace(example, candidates=(*example.candidates[:-1], perfect)))
    assert ax.get_ylim()[0] < bar_tops(ax)[-1]


def test_names_with_dollars_are_no_mathematics(pyplot):
    points = np.random.default_rng(0).normal(size=(50, 2))
    ax = plot_directions(DirectionField(("$x_", "$\\bad$"), points, points, points))
    drawn(ax)
    ax = plot_coefficients([Coefficient("$price", 1.0, 0.5, 1.5)])
    drawn(ax)


def test_nothing_to_draw_says_so(example):
    bare = CandidateView(example.choice.expression, 3, 0.1, "terms")
    nowhere = replace(example.directions, network=0 * example.directions.network)
    cases = (
        lambda: plot_front(ReportData("t", "none", "s")),
        lambda: plot_phi(bare),
        lambda: plot_angles(bare),
        lambda: plot_directions(nowhere),
        lambda: plot_coefficients(()),
    )
    for case in cases:
        with pytest.raises(ReportError, match="draw"):
            case()
