"""``closedform reproduce`` with the seconds of the processor instead of the clock's, for a busy
machine.

python bench/scripts/reproduce_by_processor.py all --profile quick --baseline --out results
"""

import sys
import time


def main() -> None:
    """Hand the words on the command line to the command."""
    time.perf_counter = time.process_time
    from closedform.cli.app import main as command

    sys.argv[1:1] = ["reproduce"]
    command()


if __name__ == "__main__":
    main()
