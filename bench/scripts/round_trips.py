"""Whether a text that is read is printed and read back the same: random texts, right and wrong."""

import argparse
import random
import time
from collections import Counter

from closedform_bench.reliability.random_texts import random_text, round_trip

CHUNK = 50_000


def main() -> None:
    """Print a line now and then, and the counts at the end; exit code 1 if a text differs or
    fails.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts: Counter[str] = Counter()
    began = time.perf_counter()
    for done in range(1, options.count + 1):
        text = random_text(rng)
        try:
            outcome = round_trip(text)
        except Exception as error:  # any other error than the parser's own is what this looks for
            outcome = "failed"
            print(f"failed: {text!a}: {error!r}")
        if outcome == "different":
            print(f"different: {text!a}")
        counts[outcome] += 1
        if done % CHUNK == 0 or done == options.count:
            read = counts["same"] + counts["different"]
            print(
                f"seed {options.seed}: {done} generated, {read} read, {counts['refused']} refused, "
                f"{counts['different']} different, {counts['failed']} failed, "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
    raise SystemExit(1 if counts["different"] or counts["failed"] else 0)


if __name__ == "__main__":
    main()
