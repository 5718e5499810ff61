"""Draw the pictures of the report page that stand in docs/images.

Needs Chromium and playwright: ``python benchmarks/report_pictures.py``.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from closedform.report.html import write_report
from closedform.testing.example_report import example_report

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
IMAGES = Path(__file__).parent.parent / "docs" / "images"


def main(images: Path = IMAGES) -> None:
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = write_report(example_report(), Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for width, height in ((1280, 1900), (390, 1700)):
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(page_file.as_uri())
                target = images / f"report-{width}-{scheme}.png"
                page.screenshot(path=target)
                print(target.name, target.stat().st_size)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
