"""Draw the pictures of the report page that stand in docs/images: the report of README's first
example.

Needs Chromium and playwright: ``python bench/scripts/report_pictures.py``. Prints the size of each
file.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import sync_playwright

import closedform as cf
from closedform.example import load_example
from closedform.searching.budget import processor_seconds

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
IMAGES = Path(__file__).parents[2] / "docs" / "images"


def main(images: Path = IMAGES) -> None:
    """Draw the page at two widths in two colour schemes."""
    images.mkdir(exist_ok=True)
    network, inputs, names = load_example()
    with processor_seconds():
        answer = cf.interpret(network, inputs, "latent:0", names=names, budget=15, rng=0)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        answer.report(page_file)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for width, height in ((1280, 2080), (390, 2000)):
            for scheme in SCHEMES:
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto(page_file.as_uri())
                target = images / f"report-{width}-{scheme}.png"
                # A page has few colours: a palette makes the file a third as large.
                Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(128).save(
                    target, optimize=True
                )
                print(target.name, target.stat().st_size)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
