"""Try to break the package, and write the page of what came of it; see docs/reliability.md."""

import argparse
import json
import sys
from pathlib import Path

from closedform.basics.files import write_text
from closedform_bench.reliability.page import KINDS, write_page
from closedform_bench.reliability.trial import run_trials


def main() -> None:
    """Run what is not in the store yet; exit code 1 if a trial failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="where records are kept")
    parser.add_argument("--share", type=float, default=0.001, help="of the full counts")
    parser.add_argument("--kinds", help="names with commas; all by default")
    parser.add_argument("--count", type=int, help="trials of each kind instead of a share")
    parser.add_argument("--page", type=Path, help="write the page here")
    parser.add_argument("--json", action="store_true", help="print the page as a JSON object")
    options = parser.parse_args()
    chosen = None if options.kinds is None else options.kinds.split(",")
    told = sys.stderr if options.json else sys.stdout
    failed = 0
    for kind in KINDS:
        if chosen is not None and kind.name not in chosen:
            continue
        count = options.count or max(1, round(options.share * kind.full))
        tally = run_trials(kind, count, options.store)
        failed += tally.failed
        print(f"{kind.name}: {tally.done} done, {dict(tally.outcomes)}", flush=True, file=told)
        for failure in tally.failures:
            print(f"  {failure!a}", flush=True, file=told)
    if options.page is not None:
        write_text(options.page, write_page(options.store))
    if options.json:
        print(json.dumps({"page": write_page(options.store)}))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
