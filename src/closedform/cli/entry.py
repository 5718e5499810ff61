"""Where the command ``closedform`` begins: Ctrl-C ends it with one line, even while it loads."""

import os
import signal
import sys
from typing import NoReturn

from closedform.cli import STOPPED, STOPPED_LINE


def main() -> None:
    """Load the application and run it."""
    # While it loads there is nothing to keep, and an error inside an import can take any shape.
    signal.signal(signal.SIGINT, lambda *_: _stop())
    from closedform.cli.app import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: object = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        _stop()
    # What is left is to flush and to go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == STOPPED:
        _leave()
    sys.exit(code)  # type: ignore[arg-type]  # what SystemExit had


def _stop() -> NoReturn:
    sys.stderr.write(STOPPED_LINE)
    _leave()


def _leave() -> NoReturn:
    """End at once: Python would end itself by the signal again if a library saw it on its way."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STOPPED)
