"""Check that what is installed is the lowest version that closedform declares, torch apart."""

from importlib.metadata import requires, version

from packaging.requirements import Requirement
from packaging.version import Version

RUN_TIME = ("", "torch", "jax", "report", "cluster", "units")
"""Extras that users install; the versions of tools are not a promise."""


def main() -> None:
    """Print every bound; exit code 1 if one is not what is tested."""
    wrong = False
    lines = map(Requirement, requires("closedform") or [])
    for line in lines:
        asked = line.marker is None or any(line.marker.evaluate({"extra": e}) for e in RUN_TIME)
        (lowest, *_) = [s.version for s in line.specifier if s.operator == ">="] or [""]
        if not asked or not lowest or line.name == "torch":
            continue
        tested = Version(version(line.name))
        print(f"{line.name} {lowest}" + ("" if tested == Version(lowest) else f", but {tested}"))
        wrong |= tested != Version(lowest)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
