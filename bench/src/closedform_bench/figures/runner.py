"""Measure parts in turn, each in a process of its own."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from closedform.basics.optional import versions
from closedform.errors import ClosedformError
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.part import FigurePart, Measurement

CHECKOUT = Path(__file__).resolve().parents[4]
"""Where scripts are, and the history of the code."""

CODE = (":/src", ":/bench/src", ":/bench/scripts")
"""What can change a figure; a commit to the docs cannot."""

Say = Callable[[str], None]


class MeasurementError(ClosedformError):
    """A command that measures did not print a result."""


def code_version() -> str:
    """The last commit that changed the code, with a plus sign if there are changes since; empty
    outside of a checkout.
    """
    if not (CHECKOUT / "bench" / "scripts").is_dir():
        return ""
    try:
        commit = _git("log", "-1", "--format=%h", "--", *CODE)
        return commit + "+" if _git("status", "--porcelain", "--", *CODE) else commit
    except (OSError, subprocess.CalledProcessError):
        return ""


def run_parts(
    parts: Sequence[FigurePart],
    store: MeasurementStore,
    *,
    seed: int = 0,
    processor: bool = False,
    again: bool = False,
    say: Say,
) -> list[str]:
    """Measure what the store does not have; what fails is named, and the others go on.

    Parameters
    ----------
    parts : sequence of FigurePart
    store : MeasurementStore
    seed : int
    processor : bool
        Whether seconds are the processor's.
    again : bool
        Whether to repeat what other code gave.
    say : callable
        Is told what happens.

    Returns
    -------
    list of str
        Names of the parts that failed.

    Raises
    ------
    KeyboardInterrupt
        If someone interrupts; what is done is kept, and the next run resumes.
    """
    code, failed = code_version(), []
    left: list[FigurePart] = []
    for part in parts:
        kept = store.get(part.name, seed)
        if (
            kept is None
            or kept.command != shlex.join(part.command(seed, processor=processor))
            or (again and kept.code != code)
        ):
            left.append(part)
        else:
            say(f"{part.name}: stored already, code {kept.code or 'unknown'}")
    for place, part in enumerate(left):
        minutes = sum(other.minutes for other in left[place:])
        say(
            f"{part.name}: part {place + 1} of {len(left)}, about {part.minutes:g} processor "
            f"minutes of {minutes:g} that are left"
        )
        try:
            store.keep(measure(part, store, seed=seed, processor=processor))
        except MeasurementError as error:
            failed.append(part.name)
            say(str(error))
        except KeyboardInterrupt:
            say(f"\nStopped in {part.name}; {place} of {len(left)} parts are done and kept.")
            raise
    return failed


def measure(
    part: FigurePart, store: MeasurementStore, *, seed: int, processor: bool
) -> Measurement:
    """Run the command of a part.

    Raises
    ------
    MeasurementError
        If it does not print JSON (exit code 1 is an answer like others), or the code changes
        meanwhile.
    """
    code = code_version()
    workshop = store.workshop(part.name, seed, code, processor=processor)
    workshop.mkdir(parents=True, exist_ok=True)
    command = part.command(seed, processor=processor)
    exit_code, output = _run(
        [*command, *(word.replace("{store}", str(workshop)) for word in part.kept_by)]
    )
    try:
        if exit_code not in (0, 1):
            raise ValueError
        result = json.loads(output)
    except ValueError:
        raise MeasurementError(
            f"{part.name} failed: `{shlex.join(command)}` ended with {exit_code} and printed no "
            "result. What it had done is kept; the same call resumes it."
        ) from None
    if code_version() != code:
        raise MeasurementError(
            f"{part.name} failed: the code changed from {code} to {code_version()} while it ran. "
            "Run it again, in a checkout that nobody is editing."
        )
    return Measurement(
        part=part.name,
        command=shlex.join(command),
        seed=seed,
        code=code,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        result=result,
        versions=versions(),
    )


def _run(words: Sequence[str]) -> tuple[int, str]:
    """Exit code and output of a command of ours or of Python; it may write to stderr."""
    program, *others = words
    ours = ["-m", "closedform"] if program == "closedform" else []
    # In a session of its own: Ctrl-C would reach a reading, which ends with the best so far, and
    # half a reading must not be kept as a result.
    with subprocess.Popen(
        [sys.executable, *ours, *others],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as child:
        try:
            output, _ = child.communicate()
        except BaseException:
            _end(child)
            raise
    return child.returncode, output


def _end(child: "subprocess.Popen[str]") -> None:
    """End a command and what it has started."""
    if sys.platform == "win32":
        child.kill()
    else:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=CHECKOUT, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()
