"""A check that was not made is never seen as passed: on the page, in print or anywhere else."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from closedform.interpretation.answer import load_interpretation
from closedform.interpretation.verdict import CheckResult
from closedform.report.figures import CHECK_MARKS
from closedform.report.html import fragment, render_report

REASON = "There was too little data."
NOT_MADE = (CheckResult.not_made(REASON),) * 3
ANSWERS = ("example", "several", "networks", "nothing")


class Checks(HTMLParser):
    """The class, mark and text of every check of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.inside = self.at_mark = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = {name: value or "" for name, value in attrs}
        if tag == "ul":
            self.inside = attributes.get("class") == "reasons"
        elif tag == "li" and self.inside:
            self.found.append((attributes["class"], "", ""))
        elif attributes.get("class") == "mark" and self.inside:
            self.at_mark = True
            self.found[-1] = (self.found[-1][0], attributes["aria-label"], "")

    def handle_endtag(self, tag):
        self.at_mark = False
        self.inside = self.inside and tag != "ul"

    def handle_data(self, data):
        if self.inside and self.found and not self.at_mark:
            kind, mark, text = self.found[-1]
            self.found[-1] = (kind, mark, text + data.rstrip())


@pytest.fixture(params=ANSWERS)
def unchecked(request, with_checks):
    """An answer of which no check was made, without a hypothesis, which has a mark of its own."""
    found = request.getfixturevalue(request.param)
    return with_checks(replace(found, hypothesis=None), NOT_MADE)


def test_the_page_says_not_made_of_every_check(unchecked):
    page = render_report(unchecked)
    checks = Checks(page).found
    verdicts = 1 + len(unchecked.parts) + len(unchecked.networks)
    assert checks == [("not-made", "not made", f"Not made: {REASON}")] * 3 * verdicts
    assert CHECK_MARKS["passed"] not in page


def test_the_notebook_says_not_made_of_every_check(unchecked):
    text = fragment(unchecked)
    assert text.count(f"Not made: {REASON}") == 3 * (1 + len(unchecked.parts))
    assert text.count("3 not made") == len(unchecked.networks)
    assert CHECK_MARKS["passed"] not in text
    assert "passed" not in text


def test_print_says_not_made_of_every_check(unchecked):
    told = unchecked.explain()
    assert told.count(f"not made: {REASON}") == 3 * (1 + len(unchecked.parts))
    assert "passed" not in told


def test_a_file_keeps_what_was_not_made(unchecked, tmp_path):
    unchecked.save(tmp_path / "answer.json")
    again = load_interpretation(tmp_path / "answer.json")
    assert again == unchecked
    assert render_report(again) == render_report(unchecked)


def test_the_table_of_networks_counts_what_was_not_made(networks):
    page = render_report(networks)
    assert page.count("<small>1 passed, 1 not made</small>") == 3
    assert page.count("<small>2 passed</small>") == 1


@pytest.mark.parametrize("answer", ["example", "several", "networks"])
def test_every_check_has_the_mark_of_its_outcome(answer, request):
    found = request.getfixturevalue(answer)
    verdicts = [verdict for reading in found.networks for verdict in reading.verdicts]
    verdicts += [found.verdict, *(part.verdict for part in found.parts)]
    checks = [check for verdict in verdicts for check in verdict.checks]
    expected = [(check.word.replace(" ", "-"), check.word, check.sentence) for check in checks]
    assert Checks(render_report(found)).found == expected
