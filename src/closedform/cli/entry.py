"""Where the command ``closedform`` begins: Ctrl-C ends it in a word, also while it still loads."""

import signal
import sys


def main() -> None:
    """Load the application and run it."""
    try:
        from closedform.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("\nclosedform: stopped.\n")
        sys.exit(130)
    finally:
        # What is left is to flush and to go.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
