"""A store with a million synthetic results: how long it takes to fill, to resume, and to summarise,
and how much memory.

Run it: python bench/scripts/sweep_million.py [--results 1000000] [--folder DIR]

Some results are put one by one and gathered, to see what that costs; the others go straight into
Parquet files of the size that a sweep gathers. The last 5,000 stay in files of their own, as after
a crash. Then new processes resume (list and check everything, and find what is missing among a
million planned keys), and make the table "verified, complexity under 10". Prints one JSON object,
with seconds of the clock and of the processor, for other work on the machine lengthens the first.
Linux only.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore, read_table
from closedform.sweeping.execution.task import content_key

MISSING, LOOSE, ONE_BY_ONE = 1000, 5000, 5000


def planned(count: int) -> list[str]:
    """Keys of what is to be done."""
    return [content_key({"number": number}) for number in range(count)]


def record(number: int) -> dict[str, object]:
    """A result as large as that of a neuron."""
    verdict = ("verified", "none", "none", "approximate")[number % 4]
    concept = f"x{number % 7}**2 + {number % 97}*x{number % 5}*x{number % 3}"
    front = [
        [size, 10.0 ** (-size) * (1 + number % 13 / 13), f"{concept} + {size}*x0"]
        for size in range(1, 16, 2)
    ]
    reasons = [
        f"On 450 held-out points the misalignment is {number % 1000 / 1e6:.1e} and {words}."
        for words in "abcdef"
    ]
    return {
        "neuron": f"layer:{number}", "status": "done", "verdict": verdict, "concept": concept,
        "complexity": number % 40,
        "misalignment": number % 1000 / 1e6, "low": 0.0, "high": 1.0, "floor": number % 999 / 1e7,
        "usable": 2000,
        "evaluations": number % 20_000, "ended": "finished", "seed": 0, "reasons": reasons,
        "findings": [], "front": front,
        "engine": "terms", "digest": f"{number:032x}", "seconds": 1.0,
    }  # fmt: skip


def fill(path: Path, count: int) -> dict[str, float]:
    """Put and gather some, write the rest as gathered, and leave a few in files of their own."""
    store, keys = ResultStore(path), planned(count)
    numbers = range(count - MISSING)
    one_by_one, loose = numbers[:ONE_BY_ONE], numbers[-LOOSE:]
    put = time.process_time()
    for number in one_by_one:
        store.put(keys[number], record(number))
    gather = time.process_time()
    store.compact()
    gathered = time.process_time()
    others = numbers[ONE_BY_ONE:-LOOSE]
    for start in range(0, len(others), ROWS_PER_PART):
        part = others[start : start + ROWS_PER_PART]
        store.parts.add([(keys[number], json.dumps(record(number))) for number in part])
    for number in loose:
        store.put(keys[number], record(number))
    per_put, per_gather = (gather - put) / len(one_by_one), (gathered - gather) / len(one_by_one)
    return {"put_milliseconds": 1e3 * per_put, "gather_milliseconds": 1e3 * per_gather}


def resume(path: Path, count: int) -> dict[str, float]:
    """What a sweep does first: check, and compare with the plan."""
    keys = planned(count)
    before, began, worked = _peak(), time.perf_counter(), time.process_time()
    found = ResultStore(path).check()
    left = [key for key in keys if key not in found.sound]
    return {"left": len(left), **_cost(began, worked), "megabytes_of_planned_keys": before}


def summary(path: Path, _count: int) -> dict[str, float]:
    """The table with a filter."""
    began, worked = time.perf_counter(), time.process_time()
    table = read_table(ResultStore(path), "verdict == 'verified' and complexity < 10")
    return {"rows": len(table), **_cost(began, worked)}


def _cost(began: float, worked: float) -> dict[str, float]:
    seconds, own = time.perf_counter() - began, time.process_time() - worked
    return {"seconds": seconds, "processor_seconds": own, "peak_megabytes": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _size(path: Path) -> dict[str, float]:
    files = [file for file in path.rglob("*") if file.is_file()]
    return {"files": len(files), "megabytes": sum(file.stat().st_size for file in files) / 2**20}


STEPS = {"fill": fill, "resume": resume, "summary": summary}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--step", choices=STEPS, default=None)
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="million-"))
    if chosen.step is not None:
        print(json.dumps(STEPS[chosen.step](folder, chosen.results)))
    else:
        result: dict[str, object] = {"results": chosen.results}
        for step in STEPS:
            options = ["--results", str(chosen.results), "--folder", str(folder), "--step", step]
            said = subprocess.run(
                [sys.executable, __file__, *options], check=True, capture_output=True, text=True
            ).stdout
            result[step] = json.loads(said)
        print(json.dumps({**result, "store": _size(folder)}, indent=1))
