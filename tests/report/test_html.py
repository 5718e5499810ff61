from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.report.figure_data import CandidateView, Reason, ReportData
from closedform.report.fragment import fragment
from closedform.report.html import render_report, write_report
from closedform.report.several_view import NetworkView, PartView, SeveralView, SpreadView

EMPTY = ReportData("Neuron fc:0", "none", "No closed form was found.")
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

    def handle_data(self, data):
        self.text += data


@pytest.fixture(params=["example", "evil"])
def page(request) -> Outline:
    return Outline(render_report(request.getfixturevalue(request.param)))


def test_every_element_is_closed(page):
    assert page.open == []


def test_the_page_asks_for_nothing(page):
    addresses = [v for _, attributes in page.elements for k, v in attributes.items() if k in ("src", "href", "srcset", "data")]
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
        example.sentence,
        example.choice_reason,
        *(reason.text for reason in example.reasons),
        *(row.explanation for row in example.evidence),
        *(f.text for f in example.findings),
        example.rivals[0].difference,
        example.hypothesis.sentence,
        example.command,
        *example.versions.values(),
    ):
        assert words in text


def test_without_script_the_choice_is_shown(example):
    outline = Outline(render_report(example))
    panels = [attributes for _, attributes in outline.elements if "panel" in (attributes.get("class") or "").split()]
    assert {attributes["data-index"] for attributes in panels if "hidden" not in attributes} == {str(example.chosen)}
    assert len(panels) == 2 * len(example.candidates)


def test_bar_heights_follow_the_misalignment(example):
    styles = [a["style"] for _, a in Outline(render_report(example)).elements if a.get("class") == "column"]
    heights = [float((style or "").removeprefix("height:").removesuffix("%")) for style in styles]
    order = np.argsort([candidate.misalignment for candidate in example.candidates])
    assert (np.diff(np.array(heights)[order]) >= 0).all()
    assert 0 < min(heights) < max(heights) <= 100


@pytest.mark.parametrize("status", ["verified", "approximate", "none"])
def test_little_data_is_enough(status):
    bare = CandidateView(parse("x*y"), 3, 0.0, "terms")
    for data in (EMPTY, replace(EMPTY, candidates=(bare,)), replace(EMPTY, candidates=(bare,), chosen=0, status=status)):
        assert Outline(render_report(data)).open == []
        assert Outline(fragment(data)).open == []


def test_several_concepts_are_all_shown(example):
    data = replace(example, concepts=(parse("alpha*beta"), parse("gamma - delta")))
    for text in (render_report(data), fragment(data)):
        assert "β" in text
        assert "δ" in text


def test_the_file_is_what_was_rendered(example, tmp_path):
    target = write_report(example, tmp_path / "report.html")
    assert target.read_text(encoding="utf-8") == render_report(example)
    assert target.stat().st_size < 400_000


def test_the_fragment_is_small_and_has_no_script(example, evil):
    for data in (example, evil):
        outline = Outline(fragment(data))
        tags = {tag for tag, _ in outline.elements}
        assert outline.open == []
        assert not tags & {"script", "style", "img", "link"}
        assert data.sentence in outline.text
        assert len(fragment(data)) < 6000


def test_several_concepts_and_networks_have_their_tables():
    part = PartView(parse("x*v"), "verified", "It is <b>fine</b>.", 3, 1e-4, (Reason("It fits.", True),))
    network = NetworkView("<i>seed 0</i>", ("approximate",), (0.01,), (0.51,))
    view = SeveralView((part,), (network,), "All agree.", (SpreadView("x**4", 0.5, 0.01),))
    page = Outline(render_report(replace(EMPTY, several=view)))
    assert "It is <b>fine</b>." in page.text
    assert "<i>seed 0</i>" in page.text
    assert "0.5 ± 0.01" in page.text
    assert [attributes["id"] for tag, attributes in page.elements if tag == "section" and "id" in attributes] == [
        "concepts",
        "networks",
    ]
    assert "concepts" not in {attributes.get("id") for _, attributes in Outline(render_report(EMPTY)).elements}
