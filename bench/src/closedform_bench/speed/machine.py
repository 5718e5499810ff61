"""What a run depends on: processor, versions, date, and how much memory it took."""

import platform
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from closedform.basics.optional import versions


def processor_name() -> str:
    """The processor as it calls itself."""
    file = Path("/proc/cpuinfo")
    if file.exists():
        found = re.search(r"model name\s*:\s*(.+)", file.read_text(encoding="utf-8"))
        if found is not None:
            return " ".join(found[1].replace("(R)", "").replace("(TM)", "").split())
    return platform.processor() or platform.machine()


def surroundings() -> dict[str, str]:
    """Date, processor and versions, as words.

    Examples
    --------
    >>> sorted(surroundings())[:3]
    ['closedform', 'date', 'numba']
    """
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "processor": processor_name(), **versions(), "scipy": version("scipy")}


def peak_memory() -> float:
    """The most memory that this process had so far, in MB."""
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset / 2**20
    else:  # noqa: RET505  # the platform is a condition that type checkers read
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 2**10)
