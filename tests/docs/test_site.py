"""The site: built with warnings as errors, every link inside it leads somewhere, and nothing is
loaded from the network.
"""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "object": "data",
}
LOOKED_AT = ["index", "start", "how_it_works", "api", "results", "guides/index", "command_line"]


class Page(HTMLParser):
    """Links, anchors and loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if (
            tag in LOADED
            and values.get(LOADED[tag])
            and values.get("rel") not in ("canonical", "search", "index", "next", "prev")
        ):
            self.loaded.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "docs",
        str(target),
    ]
    built = subprocess.run(
        [*command, "-d", str(target / ".doctrees")], capture_output=True, text=True, cwd=ROOT
    )
    assert built.returncode == 0, built.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text()) for file in sorted(site.rglob("*.html"))}


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for file, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            known = pages.get(target)
            if not target.exists() or (
                parts.fragment
                and known is not None
                and unquote(parts.fragment) not in known.anchors
            ):
                broken.append(f"{file.relative_to(site)}: {link}")
    assert len(pages) > 30
    assert not broken


def test_nothing_is_loaded_from_the_network(pages: dict[Path, Page], site: Path) -> None:
    assert [
        link
        for page in pages.values()
        for link in page.loaded
        if urlsplit(link).scheme in ("http", "https")
    ] == []
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert re.findall(r"url\(\s*['\"]?(?:https?:)?//", styles) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_the_screen_and_complain_about_nothing(site: Path, width: int) -> None:
    path = shutil.which("chromium") or shutil.which(
        "google-chrome"
    )  # without either, Playwright's own
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:"))
                else complaints.append(request.url)
            ),
        )
        for name in LOOKED_AT:
            page.goto((site / f"{name}.html").as_uri())
            if page.evaluate("document.documentElement.scrollWidth") > width:
                complaints.append(f"{name} scrolls sideways")
        browser.close()
    assert not complaints


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md", "SCOPE.md", "CHANGELOG.md"])
def test_links_of_the_front_pages_lead_somewhere(file: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / file).read_text())
    assert [
        link for link in links if "://" not in link and not (ROOT / link.split("#")[0]).exists()
    ] == []
