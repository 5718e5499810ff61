"""The command line with two additions: every reading of a neuron is noted, and one neuron eats
memory.

Run as ``python sweep_tasks.py sweep ...``; SWEEP_NOTES is a file, SWEEP_POISON the neuron, both for
workers too.
"""

import os
import time
from typing import Any

from closedform.sweeping import planning
from closedform.sweeping.neuron_task import read_neuron


def read_and_note(payload: dict[str, Any]) -> dict[str, Any]:
    """Note who is read, then read."""
    with open(os.environ["SWEEP_NOTES"], "a") as file:
        file.write(f"{payload['neuron']} {os.getpid()} {time.time():.2f}\n")
    if payload["neuron"] == os.environ.get("SWEEP_POISON"):
        kept = []
        while True:
            kept.append(bytearray(50_000_000))
    return read_neuron(payload)


if __name__ == "__main__":
    from closedform.cli.app import main

    planning.FUNCTION = "sweep_tasks:read_and_note"
    main()
