import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.parse import parse
from closedform.interpretation.evidence import FrontEntry, HypothesisResult
from closedform.interpretation.verdict import STATUSES, Verdict
from closedform.report.figures import LOOKS, evidence_rows, hypothesis_sentence
from closedform.report.html import fragment, render_report, write_report
from closedform.report.svg import angles_svg

VOID = {"meta", "link", "input", "img", "br"}


class Outline(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.text += " " if tag in ("td", "th", "span") else ""

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module", params=["example", "evil", "several", "networks", "nothing"])
def page(request) -> Outline:
    return Outline(render_report(request.getfixturevalue(request.param)))


def test_every_element_is_closed(page):
    assert page.open == []


def test_the_page_asks_for_nothing(page):
    addresses = [
        v
        for _, attributes in page.elements
        for k, v in attributes.items()
        if k in ("src", "href", "srcset", "data")
    ]
    assert addresses == ["data:,"]
    assert "@import" not in page.text
    assert "url(" not in page.text


def test_a_name_that_is_a_script_stays_text(page):
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not [k for _, attributes in page.elements for k in attributes if k.startswith("on")]


def test_the_evil_name_is_shown(evil):
    assert "<script>alert(1)</script>" in Outline(render_report(evil)).text


def test_every_part_is_on_the_page(example):
    text = " ".join(Outline(render_report(example)).text.split())
    for words in (
        example.verdict.sentence,
        example.choice_reason,
        *(check.sentence for check in example.verdict.checks),
        *(words for row in evidence_rows(example) for words in row),
        *(finding.message for finding in example.field_quality.findings),
        "The gradients differ by 2.9 degrees at x = 2.97 , v = 0.02 ; on the data by at most 1.4.",
        hypothesis_sentence(example.hypothesis),
        example.provenance.title,
        example.provenance.command,
        *example.provenance.versions.values(),
    ):
        assert words in text


def test_without_rivals_the_page_claims_nothing(example):
    """It said that no other candidate fits as well even where rivals had not been looked for."""
    page = render_report(replace(example, rivals=()))
    assert "Rivals" not in page
    assert "explains the held-out points as well" not in page


def test_the_page_says_which_points_judge(example, several):
    """Pages of stated formulas claimed that their points had not been seen."""
    unseen = "points that search, choice and fitting have not seen"
    stated = render_report(replace(example, choice_reason=""))
    assert unseen not in stated
    assert "Measured on all points of the field" in stated
    for answer in (example, several):
        assert unseen in render_report(answer)
        assert "Measured on all points" not in render_report(answer)


def test_without_script_the_choice_is_shown(example):
    outline = Outline(render_report(example))
    panels = [
        attributes
        for _, attributes in outline.elements
        if "panel" in (attributes.get("class") or "").split()
    ]
    assert {a["data-index"] for a in panels if "hidden" not in a} == {str(example.chosen)}
    assert len(panels) == 2 * len(example.front)


def test_bar_heights_follow_the_misalignment(example):
    styles = [
        a["style"]
        for _, a in Outline(render_report(example)).elements
        if a.get("class") == "column"
    ]
    heights = [float((style or "").removeprefix("height:").removesuffix("%")) for style in styles]
    order = np.argsort([entry.misalignment for entry in example.front])
    assert (np.diff(np.array(heights)[order]) >= 0).all()
    assert 0 < min(heights) < max(heights) <= 100


@pytest.mark.parametrize("status", STATUSES)
def test_little_data_is_enough(status, nothing, example):
    bare = FrontEntry(example.concept, 3, 0.0, 0.0, 0.0, 0.0)
    verdict = Verdict(status, "A sentence.")
    for found in (
        replace(nothing, verdict=verdict),
        replace(nothing, verdict=verdict, front=(bare,)),
        replace(nothing, verdict=verdict, front=(bare,), chosen=0, concept=bare.expression),
    ):
        for text in (render_report(found), fragment(found)):
            assert Outline(text).open == []
            assert "A sentence." in text


def test_the_file_is_what_was_rendered(example, tmp_path):
    example.report(tmp_path / "page.html")
    target = write_report(example, tmp_path / "report.html")
    assert target.read_text(encoding="utf-8") == render_report(example)
    assert (tmp_path / "page.html").read_bytes() == target.read_bytes()
    assert target.stat().st_size < 400_000


@pytest.mark.parametrize("name", ["example", "evil", "several", "networks", "nothing"])
def test_the_fragment_is_small_and_has_no_script(name, request):
    found = request.getfixturevalue(name)
    outline = Outline(found._repr_html_())
    tags = {tag for tag, _ in outline.elements}
    assert outline.open == []
    assert not tags & {"script", "style", "img", "link"}
    assert found.verdict.sentence in outline.text
    assert len(fragment(found)) < 9000


def test_several_concepts_have_the_whole_and_each_part(several):
    page = Outline(render_report(several))
    text = " ".join(page.text.split())
    for part in several.parts:
        assert part.verdict.sentence in text
        assert str(part.concept) in text
        assert all(words in text for row in evidence_rows(part) for words in row)
    assert "Evidence for all concepts together" in text
    assert "for the first concept" not in text
    columns = [attributes for _, attributes in page.elements if attributes.get("class") == "column"]
    assert len(columns) == sum(len(part.front) for part in several.parts)
    names = {a["name"] for tag, a in page.elements if tag == "input"}
    assert names == {"candidate1", "candidate2"}
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_several_concepts_are_all_in_the_notebook(several):
    text = fragment(several)
    for part in several.parts:
        assert all(
            escape(check.text) in text or check.passed is None for check in part.verdict.checks
        )
    assert text.count("<math") >= 2
    assert text.count("Approximate.") == 2
    assert text.count("Verified.") == 1


def test_every_network_has_its_verdict_and_its_constants(networks):
    text = " ".join(Outline(render_report(networks)).text.split())
    assert networks.agreement in text
    assert "network verdict and checks misalignment v**2" in text
    assert "network 0 Verified 2 passed 0.001 0.5" in text
    assert "network 3 Approximate 1 passed, 1 not made 0.001 0.53" in text
    assert "mean ± standard error 0.515 ± 0.0065" in text
    shown = " ".join(Outline(fragment(networks)).text.split())
    assert "network 3: Approximate. 1 passed, 1 not made" in shown
    assert networks.agreement in shown


def test_one_network_has_a_name_for_every_column(networks):
    page = Outline(render_report(replace(networks, networks=networks.networks[:1])))
    text = " ".join(page.text.split())
    assert "misalignment v**2 network 0 Verified 2 passed 0.001 0.5" in text
    assert "mean ± standard error" not in text


def test_a_page_of_none_says_what_to_try_next(example):
    answer = replace(example, verdict=Verdict("none", "No closed form was found."))
    assert answer.next_steps
    page, notebook = render_report(answer), answer._repr_html_()
    for step in answer.next_steps:
        assert escape(step) in page
        assert escape(step) in notebook
    caption = LOOKS["none"].caption
    assert caption in page
    assert caption in notebook
    assert "What to try next" not in render_report(example)


def test_a_hypothesis_stands_beside_the_answer_in_the_notebook(example):
    guess = HypothesisResult(parse("x**2 + v**2", ["x", "v"]), "different", "They differ.", 0.25)
    shown = replace(example, hypothesis=guess)._repr_html_()
    assert "Your hypothesis" in shown
    assert escape("This formula's misalignment is 0.25. They differ.") in shown


def test_labels_of_tiny_angles_do_not_lie_on_each_other():
    """2.00e-7, 4.00e-7 and so on were one smear under the histogram."""
    picture = angles_svg(list(np.linspace(0, 1.6e-6, 50)))
    assert picture is not None
    ticks = re.findall(r'class="tick" x="([0-9.]+)"[^>]*text-anchor="middle">([^<]+)<', picture)
    assert len(ticks) > 1
    for (left, text), (right, other) in pairwise(ticks):
        assert float(right) - float(left) > 5.5 * (len(text) + len(other)) / 2


@pytest.mark.parametrize("findings", [True, False])
def test_notes_are_shown_as_explain_shows_them(example, findings):
    note = "The network <b>answers</b> differently each time."
    quality = example.field_quality if findings else replace(example.field_quality, findings=())
    answer = replace(
        example, field_quality=quality, provenance=replace(example.provenance, notes=(note,))
    )
    assert note in answer.explain()
    assert note in Outline(render_report(answer)).text
    assert note not in Outline(render_report(example)).text


def test_what_was_noted_and_found_stands_once(example):
    said = example.field_quality.findings[0].message
    answer = replace(example, provenance=replace(example.provenance, notes=(said,)))
    assert Outline(render_report(answer)).text.count(said) == 1


def test_the_page_shows_symmetries_if_they_are_given(example, tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    example.report(tmp_path / "page.html", symmetries=cf.symmetries(field, rng=0))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What it does not see" in page
    assert "x*d_v - v*d_x" in page
    assert 'aria-label="flow"' in page
    assert "What it does not see" not in render_report(example)
