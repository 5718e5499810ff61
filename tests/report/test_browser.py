"""The page in a real browser: it must be there, so a missing Chromium is a failure and not a
skip.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

from closedform.expressions.parse import parse
from closedform.report.figures import LOOKS, Look
from closedform.report.html import write_report

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PAGES = [
    ("example", 1280, "light"), ("example", 1280, "dark"), ("example", 390, "light"),
    ("example", 390, "dark"),
    ("evil", 1280, "light"), ("evil", 390, "dark"), ("wide", 390, "light"),
    ("several", 1280, "light"), ("several", 390, "dark"), ("networks", 1280, "dark"),
    ("networks", 390, "light"), ("nothing", 1280, "dark"), ("nothing", 390, "light"),
]  # fmt: skip


@dataclass
class Watch:
    """What a page did while it was open."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)

    def _refuse(self, dialog: Dialog) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which(
        "google-chrome"
    )  # without either, Playwright's own
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory, example, evil, several, networks, nothing) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    front = [(entry, copy) for copy in range(4) for entry in example.front]
    many = [replace(entry, complexity=entry.complexity + 60 * copy) for entry, copy in front]
    long_name = "the_" + "very_" * 30 + "long_name"
    powers = " + ".join(f"0.12345*{letter}**3" for letter in "abcdfghjklm")
    long_sum = parse(f"{powers} + {long_name}*sin({long_name})")
    wide = replace(
        example,
        concept=long_sum,
        front=(*many, replace(many[-1], complexity=999, expression=long_sum)),
        chosen=len(many),
        provenance=replace(example.provenance, title=long_name),
    )
    constants = (tuple(range(11)),)
    narrow = networks.networks[0]
    network = replace(narrow, name=long_name, concepts=(long_sum,), constants=constants)
    answers = {
        "example": example,
        "evil": evil,
        "wide": wide,
        "several": replace(several, parts=(*several.parts, wide)),
        "networks": replace(networks, concepts=(long_sum,), networks=(network,) * 5),
        "nothing": nothing,
        "fraction": replace(example, concept=parse("v**2/2 + sin(x)")),
    }
    return {name: write_report(found, folder / f"{name}.html") for name, found in answers.items()}


@pytest.fixture
def opened(browser, files) -> Iterator:
    contexts = []

    def open_page(
        name: str = "example", *, width: int = 1280, scheme: str = "light", script: bool = True
    ) -> Watch:
        viewport = {"width": width, "height": 900}
        contexts.append(
            browser.new_context(viewport=viewport, color_scheme=scheme, java_script_enabled=script)
        )
        watch = Watch(contexts[-1].new_page())
        watch.page.goto(files[name].as_uri())
        return watch

    yield open_page
    for context in contexts:
        context.close()


def shown_index(page: Page) -> int:
    """The candidate whose panel can be seen."""
    visible = page.locator("article.panel:visible")
    assert visible.count() == 1
    return int(visible.get_attribute("data-index") or -1)


@pytest.mark.parametrize(("name", "width", "scheme"), PAGES)
def test_the_page_is_quiet_asks_for_nothing_and_fits(name, width, scheme, opened, files):
    watch = opened(name, width=width, scheme=scheme)
    page = watch.page
    for summary in page.locator("summary:visible").all():
        summary.click()
    page.keyboard.press("End")
    assert watch.complaints == []
    assert watch.requests == [files[name].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    red = int(
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        .removeprefix("rgb(")
        .split(",")[0]
    )
    assert (red > 128) == (scheme == "light")


def test_the_formula_is_typeset(opened):
    box = opened("fraction").page.locator("header math").first.bounding_box()
    assert box["height"] > 50  # a fraction is taller than a line of text


def test_a_click_on_a_bar_shows_its_candidate(opened, example):
    page = opened().page
    assert shown_index(page) == example.chosen
    before = page.locator(".pictures.panel:visible").inner_html()
    page.locator("label.bar").nth(7).click()
    assert shown_index(page) == 7
    assert page.locator(".pictures.panel:visible").inner_html() != before
    expect(page.locator("article.panel:visible")).to_contain_text(str(example.front[7].complexity))


def test_arrow_keys_walk_over_the_bars(opened, example):
    page = opened().page
    page.locator("input[name=candidate]:checked").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert shown_index(page) == example.chosen + 2
    page.keyboard.press("ArrowLeft")
    assert shown_index(page) == example.chosen + 1


def test_the_bars_are_reached_by_the_tabulator_key(opened, example):
    page = opened().page
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "candidate":
            break
    page.keyboard.press("ArrowLeft")
    assert shown_index(page) == example.chosen - 1


def test_a_row_of_the_table_shows_its_candidate(opened):
    page = opened().page
    page.locator("summary").click()
    page.locator("details tbody tr").nth(2).click()
    assert shown_index(page) == 2
    assert page.locator("input[name=candidate]:checked").get_attribute("value") == "2"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_status_has_its_colours(scheme, opened):
    """Of the page in light and dark, and of a part whose status is another than the page's."""
    page = opened("several", scheme=scheme).page
    pills = page.locator(".pill")
    looks: dict[str, Look] = {**LOOKS}
    for pill in (pills.nth(0), pills.nth(1)):
        status = (pill.get_attribute("class") or "").removeprefix("pill ")
        colour = getattr(looks[status], scheme)[0]
        expected = ", ".join(str(int(colour[start : start + 2], 16)) for start in (1, 3, 5))
        assert pill.evaluate("e => getComputedStyle(e).color") == f"rgb({expected})"
    assert pills.nth(0).inner_text() != pills.nth(1).inner_text()


def test_each_of_several_concepts_has_candidates_of_its_own(opened, several):
    page = opened("several").page
    concepts = page.locator("details.part")
    for place in range(2):
        concepts.nth(place).locator("> summary").click()
    concepts.nth(0).locator("label.bar").nth(5).click()
    shown = [concepts.nth(place).locator("article.panel:visible") for place in range(2)]
    second = str(several.parts[1].chosen)
    assert [panel.get_attribute("data-index") for panel in shown] == ["5", second]
    concepts.nth(1).locator("label.bar").nth(1).click()
    assert [panel.get_attribute("data-index") for panel in shown] == ["5", "1"]


def test_a_check_that_was_not_made_says_so_in_words(opened):
    page = opened("several").page
    page.locator("details.part > summary").nth(1).click()
    check = page.locator("details.part").nth(1).locator("li.not-made")
    expect(check).to_be_visible()
    expect(check).to_contain_text("Not made: There are no values <i>of</i> the latent.")


def test_a_phone_is_touched_the_same_way(opened):
    page = opened(width=390).page
    page.locator("label.bar").nth(0).click()
    assert shown_index(page) == 0


def test_without_script_everything_can_be_read(opened, example):
    watch = opened(script=False)
    page = watch.page
    assert shown_index(page) == example.chosen
    expect(page.locator("button").first).to_be_hidden()
    page.locator("summary").click()
    expect(page.locator("details tbody tr")).to_have_count(len(example.front))
    assert page.locator("details tbody tr").last.is_visible()


def test_only_the_pages_own_script_runs(opened):
    watch = opened()
    watch.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.foreign "
        "= 1'; document.body.append(s); }"
    )
    assert watch.page.evaluate("window.foreign") is None


def test_the_command_can_be_copied(opened, example):
    watch = opened()
    watch.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    watch.page.locator("button[data-copy=command]").click()
    expect(watch.page.locator("button[data-copy=command]")).to_have_text("Copied")
    assert watch.page.evaluate("navigator.clipboard.readText()") == example.provenance.command
