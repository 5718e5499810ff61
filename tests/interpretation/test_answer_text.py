"""What an answer says when it is printed, which is what a new user reads."""

import math
from dataclasses import replace

import pytest

import closedform as cf
from closedform.expressions.parse import parse
from closedform.field.findings import Finding
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import NetworkReading, agreement
from closedform.interpretation.digits import formula_text
from closedform.interpretation.evidence import HypothesisResult, Misfit
from closedform.interpretation.verdict import Verdict
from example_interpretation import example_interpretation


@pytest.fixture(scope="module")
def example() -> Interpretation:
    return example_interpretation()


def of_none(example: Interpretation, **changes) -> Interpretation:
    verdict = Verdict("none", "No closed form was found that the network follows here.")
    return replace(example, verdict=verdict, **changes)


def test_none_comes_first_and_the_candidate_is_called_one(example) -> None:
    lines = str(of_none(example)).splitlines()
    assert lines[0].startswith("none: No closed form was found")
    assert lines[2] == f"closest candidate, not the answer: {example.concept}"
    assert lines[-1].startswith("next: ")
    assert len(lines) <= 8
    assert not str(example).startswith("none")


def test_many_inputs_get_the_line_with_transform(example) -> None:
    names = tuple(f"x{place}" for place in range(50))
    wide = replace(example.field_quality, names=names, findings=())
    steps = of_none(example, field_quality=wide).next_steps
    assert "There are 50 inputs" in steps[0]
    assert "transform=function" in steps[0]
    assert not any("transform" in step for step in of_none(example).next_steps)


def test_what_to_try_is_what_the_field_says(example) -> None:
    finding = Finding("curved-data", "warning", "Pass tangent='local'.")
    quality = replace(example.field_quality, findings=(finding,))
    assert of_none(example, field_quality=quality).next_steps[0] == "Pass tangent='local'."
    assert example.next_steps == ()


def test_warnings_about_the_field_are_printed_once(example) -> None:
    """One-hot columns were told by `explain` alone."""
    known = [
        Finding("one-hot-inputs", "warning", "steel, copper look like one category."),
        Finding("badly-scaled-inputs", "info", "Spreads differ."),
        Finding("curved-data", "warning", "Pass tangent='local'."),
        Finding("saturated", "warning", "The neuron saturates."),
    ]
    quality = replace(example.field_quality, findings=tuple(known))
    text = str(replace(example, field_quality=quality))
    assert "warning: steel, copper look like one category." in text
    assert "warnings: 1 more, answer.explain() has all" in text
    assert "Spreads" not in text
    assert str(of_none(example, field_quality=quality)).count("one category") == 1
    assert "warning" not in str(replace(example, field_quality=replace(quality, findings=())))


def test_the_front_is_a_table_and_still_a_tuple(example, tmp_path) -> None:
    """Its repr had 125,000 characters."""
    text = repr(example.front)
    assert text.splitlines()[0].split() == ["complexity", "misalignment", "formula"]
    assert len(text) < 200 * (len(example.front) + 1)
    assert len(repr(example.front[0])) < 200
    assert example.front._repr_html_().count("<tr>") == len(example.front) + 1  # type: ignore[attr-defined]
    assert example.front == tuple(example.front)
    example.save(tmp_path / "answer.json")
    assert cf.load_interpretation(tmp_path / "answer.json").front == example.front


def test_a_wide_table_scrolls_by_itself_in_a_notebook(example) -> None:
    """On a phone of 390 pixels a long formula made the whole notebook scroll sideways."""
    page = example.front._repr_html_()
    assert page.startswith('<div style="overflow-x:auto"><table>')
    assert page.count("white-space:nowrap") == 3 * len(example.front)


def test_the_table_in_a_notebook_is_escaped() -> None:
    front = example_interpretation(("<b>x</b>", "v")).front
    assert "<b>" not in front._repr_html_()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "errors", "shown"),
    [
        ("0.4765052400850048*x**4 + v", (0.003,), "0.4765*x**4 + v"),
        ("0.4765052400850048*x**4 + v", (0.3,), "0.48*x**4 + v"),
        ("0.4765052400850048*x**4 + v", (1e-12,), "0.47651*x**4 + v"),
        ("0.4765052400850048*x**4 + v", (), "0.47651*x**4 + v"),
        ("3*x**4/4 + v", (0.4,), "3*x**4/4 + v"),
    ],
)
def test_constants_have_the_digits_that_their_errors_allow(text, errors, shown) -> None:
    assert formula_text(parse(text), errors) == shown


def test_all_digits_are_one_word_away(example) -> None:
    concept = parse("0.4765052400850048*x**4 + v", names=["x", "v"])
    answer = replace(example, concept=concept, concepts=(concept,))
    assert "0.4765052400850048" not in str(answer)
    assert answer.full == str(concept)


def test_a_hypothesis_stands_beside_the_answer(example) -> None:
    guess = HypothesisResult(parse("x**2 + v**2", ["x", "v"]), "different", "They differ.", 0.25)
    text = str(replace(example, hypothesis=guess))
    assert example.alignment is not None
    own = f"{example.alignment.misalignment:.2g}"
    assert f"Its misalignment is 0.25, the formula's {own}. They differ." in text


def test_digits_are_those_of_the_errors_everywhere(example) -> None:
    """The page, the notebook, LaTeX and print agree, and the page's source text has all digits."""
    from closedform.report.html import render_report

    long = cf.parse("0.47650524008500483*x**4 + v**2", names=list(example.names))
    entry = replace(example.entry, expression=long, errors=(0.03,))
    front = tuple(
        entry if place == example.chosen else one for place, one in enumerate(example.front)
    )
    answer = replace(example, front=front, concept=long, rivals=(), concepts=())
    for text in (str(answer), repr(answer.front), answer.latex(), answer._repr_html_()):
        assert "0.477" in text
        assert "0.4765" not in text
    page = render_report(answer)
    assert "<mn>0.477</mn>" in page
    assert "<mn>0.4765</mn>" not in page
    assert "0.47650524008500483" in page
    for text in (answer.full, repr(answer), str(answer.concept)):
        assert "0.47650524008500483" in text


def test_what_is_not_verified_says_what_would_help(example):
    rough = Misfit(total=3e-3, pieces=40.0, kind="network")
    answer = replace(
        example, verdict=replace(example.verdict, status="approximate"), fit=rough,
        provenance=replace(example.provenance, status="time"),
    )  # fmt: skip
    assert answer.next_steps[0] == "The search ran out of time; answer.extend(60) continues it."
    assert "leave 3.1 degrees unexplained" in answer.next_steps[1]
    even = replace(answer, fit=replace(rough, total=math.sin(math.radians(1)) ** 2))
    assert "leave 1 degree unexplained" in even.next_steps[1]
    told = replace(
        answer, verdict=replace(answer.verdict, alternatives=(cf.parse("x + v"),)), fit=None
    )
    assert "wider range" in told.next_steps[-1]


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, None), (3, "  or another one: answer"), (5, "  or one of 3 more: answer")],
)
def test_further_alternatives_are_counted_in_words_that_fit(example, count, said):
    others = tuple(cf.parse(f"x + {number}*v") for number in range(2, 2 + count))
    verdict = replace(example.verdict, status="ambiguous", alternatives=others)
    text = str(replace(example, verdict=verdict))
    assert (said in text) if said else ("answer.explain()" not in text.partition("next:")[0])


def test_a_hypothesis_that_fits_better_is_said_to(example):
    assert example.alignment is not None
    guess = HypothesisResult(cf.parse("x + v"), "different", "", example.alignment.misalignment / 2)
    assert "another concept, which fits better" in str(replace(example, hypothesis=guess))
    worse = replace(guess, misalignment=2 * example.alignment.misalignment)
    assert "fits better" not in str(replace(example, hypothesis=worse))


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "on this formula: each verifies it with"), (2, "on these 2 formulas: each verifies them")],
)
def test_networks_agree_on_one_formula_or_several(count, said) -> None:
    sure = (Verdict("verified", "It is."),) * count
    readings = [NetworkReading(name, (), sure, (), ()) for name in "abc"]
    assert f"All 3 networks agree {said}" in agreement(readings)
