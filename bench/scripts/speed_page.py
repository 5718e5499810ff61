"""Measure speed as ratios within one run, and write docs/speed.md from what is stored.

    python bench/scripts/speed_page.py [kernel evolution terms reading others growth] [--short]

Parts that the store holds are not run again. gplearn and PySINDy are not needed by anything else:
``--others`` names the interpreter of an environment that has them (``python -m venv others &&
others/bin/pip install gplearn pysindy``).
"""

import argparse
from pathlib import Path

from closedform.basics.files import write_text
from closedform_bench.speed.page import INNER, INNER_HEAD, PARTS, write_page
from closedform_bench.speed.part import Effort, run_parts


def main() -> None:
    """Run what is not in the store yet, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PARTS", help=f"{', '.join(names)}; or all")
    parser.add_argument("--short", action="store_true", help="about a minute in all")
    parser.add_argument("--large", action="store_true", help="also 10,000,000 points")
    parser.add_argument("--others", metavar="PYTHON", help="interpreter with gplearn and PySINDy")
    parser.add_argument("--store", type=Path, default=Path("speed_runs"), help="folder of results")
    parser.add_argument("--page", type=Path, help="write the page here, and its picture beside it")
    parser.add_argument("--inner", type=Path, help="write the page for developers here")
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(names))
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(names)}")
    chosen = [part for part in PARTS if not options.parts or part.name in options.parts]
    effort = Effort(options.short, options.large, options.others)
    run_parts(chosen, effort, options.store, lambda line: print(line, flush=True))
    if options.page is not None:
        write_text(options.page, write_page(options.store, options.page.parent))
    if options.inner is not None:
        inner = write_page(options.store, options.inner.parent, INNER, INNER_HEAD)
        write_text(options.inner, inner)


if __name__ == "__main__":
    main()
