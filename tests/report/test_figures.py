from dataclasses import replace

import pytest

from closedform.interpretation.evidence import Faithfulness, HypothesisResult
from closedform.report.figures import evidence_rows, hypothesis_sentence, title


def test_rows_hold_what_was_measured(example):
    rows = {label: value for label, value, _ in evidence_rows(example)}
    assert rows["Misalignment"] == f"{example.alignment.misalignment:.2g} (0.0025 to 0.003)"
    assert rows["Rank correlation"] == f"{example.phi.rank_correlation:.4f}"
    assert {"Without the worst 5%", "Angles", "phi explains", "Without x", "Without v"} <= set(rows)
    assert "Faithfulness" not in rows
    assert all(meaning for _, _, meaning in evidence_rows(example))


def test_what_was_not_measured_has_no_row(example, nothing):
    assert evidence_rows(nothing) == []
    unused = tuple(replace(need, is_used=False) for need in example.inputs)
    faithful = Faithfulness(0.987, 0.0123, 0.456, 100)
    found = replace(example, alignment=None, phi=None, inputs=unused, faithfulness=faithful)
    ((label, value, meaning),) = evidence_rows(found)
    assert (label, value) == ("Faithfulness", "98.7%")
    assert "1.2% of their spread" in meaning
    assert "45.6%" in meaning


def test_several_concepts_have_joint_rows_and_each_its_own(several):
    """The whole showed the first concept's figures as its own."""
    rows = {label: value for label, value, _ in evidence_rows(several)}
    assert rows == {
        "Rank": "2",
        "Read": "2",
        "Spectrum": "1, 0.51, 9\N{MULTIPLICATION SIGN}10⁻¹⁷",
        "Outside": "0.0012",
        "Missing": "0.0034",
        "Explained": "98.5%",
    }
    assert "Misalignment" in {label for label, _, _ in evidence_rows(several.parts[1])}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("proved", "is the same as this formula (proved)"),
        ("different", "differs from this formula"),
    ],
)
def test_a_hypothesis_in_a_sentence(example, status, words):
    result = HypothesisResult(example.concept, status, "Why.", 0.0123)
    expected = f"The concept {words}. This formula's misalignment is 0.012. Why."
    assert hypothesis_sentence(result) == expected


def test_an_answer_without_a_title_is_named_by_its_inputs(nothing, several, example):
    assert title(nothing) == "A concept of x, v"
    assert title(several) == "Concepts of x, v"
    assert title(example) == "Neuron encoder.4:0 of pendulum.pt2"
