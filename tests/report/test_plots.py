"""What is drawn is looked at by people; here, that it is the right data on the right axes, and that
nothing global changes.
"""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from closedform.errors import ConceptError, ReportError
from closedform.interpretation.evidence import Directions
from closedform.report.plots import (
    GREEN,
    plot_angles,
    plot_coefficients,
    plot_directions,
    plot_front,
    plot_phi,
)
from example_interpretation import example_interpretation

PLOTS = {
    "front": plot_front,
    "phi": plot_phi,
    "angles": plot_angles,
    "directions": plot_directions,
    "coefficients": plot_coefficients,
}


def bar_tops(ax: Axes) -> list[float]:
    return [bar.get_y() + bar.get_height() for bar in ax.patches if isinstance(bar, Rectangle)]


def drawn(ax: Axes) -> None:
    """Draw for real, which is when text is typeset."""
    assert isinstance(ax.figure, Figure)
    ax.figure.savefig(BytesIO(), format="svg")


@pytest.mark.parametrize("name", PLOTS)
def test_axes_in_axes_out(name, example, pyplot):
    settings = dict(pyplot.rcParams)
    _, ax = pyplot.subplots()
    assert PLOTS[name](example, ax=ax) is ax
    assert len(pyplot.get_fignums()) == 1
    own = getattr(example, f"plot_{name}")()
    assert len(pyplot.get_fignums()) == 2
    assert own.has_data()
    drawn(own)
    assert dict(pyplot.rcParams) == settings


@pytest.mark.parametrize("name", PLOTS)
def test_several_concepts_are_drawn_one_by_one(name, several, pyplot):
    """The whole drew the first concept's picture as its own."""
    with pytest.raises(ReportError, match=rf"2 concepts.*answer\.parts\[0\]\.plot_{name}"):
        PLOTS[name](several)
    if name != "coefficients":
        assert PLOTS[name](several.parts[0]).has_data()


def test_coefficients_over_networks_are_drawn_with_their_spread(networks, pyplot):
    ax = plot_coefficients(networks)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["v**2"]
    assert ax.lines[-1].get_xdata() == pytest.approx([0.515])


def test_the_front_has_a_bar_for_each_candidate_and_marks_the_choice(example, pyplot):
    ax = plot_front(replace(example, steepest_drop=1))
    assert ax.get_yscale() == "log"
    assert np.allclose(bar_tops(ax), [entry.misalignment for entry in example.front])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == [str(entry.complexity) for entry in example.front]
    greens = [
        index
        for index, bar in enumerate(ax.patches)
        if bar.get_facecolor() == pyplot.matplotlib.colors.to_rgba(GREEN)
    ]
    assert greens == [example.chosen]
    assert {
        text.get_text(): int(text.xy[0]) for text in ax.texts if isinstance(text, Annotation)
    } == {"chosen": example.chosen, "steepest drop": 1}


def test_a_perfect_candidate_has_a_bar(example, pyplot):
    perfect = replace(example.front[-1], misalignment=0.0, low=0.0, high=0.0)
    ax = plot_front(replace(example, front=(*example.front[:-1], perfect)))
    assert ax.get_ylim()[0] < bar_tops(ax)[-1]


def test_names_with_dollars_are_no_mathematics(pyplot):
    found = example_interpretation(("$x_", "$\\bad$"))
    drawn(plot_directions(found))
    drawn(plot_coefficients(found))


def test_nothing_to_draw_says_so(example, nothing):
    pairs = ((0.0, 0.0), (1.0, 1.0))
    bare = replace(example.entry, angles=(), phi=None, errors=())
    nowhere = Directions(pairs, ((0.0, 0.0),) * 2, pairs)
    empty = replace(example, front=(bare,), chosen=0, directions=nowhere)
    for plot in (plot_phi, plot_angles, plot_directions, plot_coefficients):
        with pytest.raises(ReportError, match="draw"):
            plot(empty)
    with pytest.raises(ReportError, match="draw"):
        plot_front(nothing)


def test_without_a_formula_pictures_of_it_say_why(nothing):
    for plot in (plot_phi, plot_angles, plot_directions):
        with pytest.raises(ConceptError, match=r"no formula to show: No closed form was found\."):
            plot(nothing)


def test_importance_draws_what_leaving_an_input_out_costs(example):
    ax = example.plot_importance()
    assert [bar.get_width() for bar in ax.patches] == [need.without for need in example.inputs]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(example.names)


def test_directions_of_three_inputs_say_what_to_do(example):
    with pytest.raises(ConceptError, match=r"plot_importance\(\).*wrt="):
        replace(example, directions=None).plot_directions()
