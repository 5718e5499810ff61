"""An atlas of a million synthetic records of 2,000 networks: filled, opened, searched, appended to,
opened again, a network read into it and resumed, and its site built, with times and memory.

Run it: python bench/scripts/atlas_million.py [--records N] [--networks N] [--formulas N]

Formulas are those of the suite `random`, with constants a little apart, so many different ones.
Their keys and fingerprints are computed as for real ones. A million *different* concepts are timed
in memory alone: fingerprints of the real ones, each moved by a little, stand for them, since
describing so many takes hours. Each step runs in a process of its own; with --folder, a run goes on
after the last step that was finished. Linux only.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from closedform.canonical.constants import free_constants, with_constants
from closedform.sweeping.atlas.census import Identity, add_network
from closedform.sweeping.atlas.concept_index import ConceptBook, ConceptIndex
from closedform.sweeping.atlas.finding import find
from closedform.sweeping.atlas.records import Atlas, NetworkCard
from closedform.sweeping.atlas.site import build_site
from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore
from closedform.sweeping.neuron_task import Effort
from closedform_bench.formulas.grammar import draw_problems

READ = 0.25
"""Share of neurons with a formula; the others are `none`, as in real layers."""

APPENDED = 5000
ASKED = 200

Row = tuple[str, dict[str, object]]


def formulas(count: int) -> list[str]:
    """Formulas of the suite `random`, with constants apart."""
    rng = np.random.default_rng(0)
    problems = [each.formula() for each in draw_problems(count // 3 + 1, 0)]
    found: dict[str, None] = {}
    for formula in problems * 5:
        numbers = [float(c.value) * rng.uniform(0.8, 1.2) for c in free_constants(formula)]
        found[str(with_constants(formula, numbers))] = None
    return list(found)[:count]


def records(start: int, stop: int, networks: int, known: list[str]) -> Iterator[Row]:
    """Keys and records of neurons; networks take turns."""
    rng = np.random.default_rng(start)
    reads, choices = rng.random(stop - start) < READ, rng.integers(len(known), size=stop - start)
    for number, is_read, choice in zip(range(start, stop), reads, choices, strict=True):
        network = number % networks
        yield blake2b(str(number).encode(), digest_size=16).hexdigest(), {
            "neuron": f"layer:{number // networks}", "status": "done",
            "concept": known[choice] if is_read else None,
            "verdict": "verified" if is_read else "none", "complexity": 9 if is_read else None,
            "misalignment": 1e-6 if is_read else 0.3, "network": f"network{network}",
            "data": f"inputs/{network}.npz", "seed": 0, "evaluations": 1000,
            "reasons": ["On 450 held-out points the misalignment is small."] * 3,
            "digest": f"{number:032x}", "seconds": 1.0,
        }  # fmt: skip


def fill(path: Path, count: int, networks: int, n_formulas: int) -> dict[str, object]:
    """Write cards and records, in Parquet parts as a sweep gathers them; what is there stays."""
    store, known = ResultStore(path), formulas(n_formulas)
    for number in range(networks):
        NetworkCard(
            f"network {number}", "1", "MIT", "synthetic", f"network{number}",
            f"inputs/{number}.npz", ("x1", "x2"), ((0.0, 1.0), (0.0, 1.0)), 2000, ("layer",), 0,
            {"terms": 1000},
        ).save(store.folder)  # fmt: skip
    for start in range(len(store.parts.names()) * ROWS_PER_PART, count, ROWS_PER_PART):
        part = records(start, min(start + ROWS_PER_PART, count), networks, known)
        store.parts.add([(key, json.dumps(row)) for key, row in part])
    return {"formulas": len(known)}


def open_atlas(path: Path, *_: int) -> dict[str, object]:
    """Open it: the first time every formula is described, later ones read what was kept."""
    atlas = Atlas(ResultStore(path), is_brief=True)
    index = atlas.book.index()
    size = len(index)
    ask(index, [index.concepts[0].form])  # loads what is compiled
    loaded = cost()
    records = sum(bool(each.concept) for each in atlas.records())
    texts = [index.concepts[at].form for at in range(0, size, max(size // ASKED, 1))]
    told: dict[str, object] = {"concepts": size, "records with a formula": records}
    return told | {"until searchable": loaded, "questions": ask(index, texts)}


def ask(index: ConceptIndex, texts: list[str]) -> dict[str, object]:
    """Seconds of questions, each formula as an exponential of itself, and how many were found."""
    seconds, clock, found = [], [], 0
    for text in texts:
        began, worked = time.perf_counter(), time.process_time()
        matches = find(index, f"exp(({text})/7)", confirm=False)
        clock.append(round(time.perf_counter() - began, 3))
        seconds.append(round(time.process_time() - worked, 3))
        found += any(match.kind == "exact" and match.formula == text for match in matches)
    ends = {"median processor seconds": float(np.median(seconds)), "largest": max(seconds)}
    ends["median seconds of the clock"] = float(np.median(clock))
    return {"asked": len(texts), "found exactly": found, **ends}


def append(path: Path, count: int, networks: int, n_formulas: int) -> dict[str, object]:
    """Some thousand records more, with new formulas among them."""
    store = ResultStore(path)
    known = [f"{text} + 0.1*x1" for text in formulas(n_formulas)[:200]]
    for key, row in records(count, count + APPENDED, networks, known):
        store.put(key, row)
    gathered = store.compact()
    return {"appended": APPENDED, "gathered": gathered}


def million_concepts(path: Path, count: int, *_: int) -> dict[str, object]:
    """An index of so many different concepts, in memory."""
    book = ConceptBook(ResultStore(path).folder)
    index = book.index()
    known = list(index.concepts)
    concepts = [each.form for each in known]
    rng = np.random.default_rng(1)
    for start in range(len(known), count, 20_000):
        size = min(20_000, count - start)
        chosen = [known[at] for at in rng.integers(len(known), size=size)]
        index.add(
            replace(
                each,
                id=f"{start + at:016x}",
                law_id=f"{start + at:016x}",
                vector=each.vector + rng.normal(0, 0.003, len(each.vector)).astype(np.float32),
            )
            for at, each in enumerate(chosen)
        )
    before = cost()
    texts = [concepts[at] for at in range(0, len(concepts), max(len(concepts) // ASKED, 1))]
    ask(index, texts[:1])
    return {"concepts": len(index), "made": before, "questions": ask(index, texts)}


def add_real(path: Path, *_: int) -> dict[str, object]:
    """A network of three outputs, read into the store; the second time nothing is left to read."""
    points = np.random.default_rng(0).uniform(0.5, 2, (300, 2))
    census = add_network(
        real_network, points, store=path, identity=Identity("real", "1"), names=["m", "v"],
        layers=["output"], effort=Effort(terms=300, evaluations=0), kind="function",
    )  # fmt: skip
    return {"read": {name: count for name, count in census.sweep.counts.items() if count}}


def real_network(x: np.ndarray) -> np.ndarray:
    """Two formulas and a dead neuron."""
    return np.stack([np.exp(x[:, 0] * x[:, 1] ** 2), x[:, 1] + 3 * x[:, 0], 0 * x[:, 0]], axis=1)


def site(path: Path, *_: int) -> dict[str, object]:
    """All pages, and the table."""
    out = path.with_name(f"{path.name}-site")
    pages = build_site(path, out)
    sizes = [file.stat().st_size for file in out.rglob("*") if file.is_file()]
    return {**pages, "files": len(sizes), "site megabytes": sum(sizes) // 2**20}


def cost() -> dict[str, float]:
    """Of the process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"processor seconds": round(time.process_time(), 1), "megabytes": used.ru_maxrss // 1024}


STEPS = {
    "fill": fill, "open first": open_atlas, "append": append,
    "open after appending": open_atlas, "add a network": add_real, "resume": add_real,
    "build": site, "a million concepts": million_concepts,
}  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--networks", type=int, default=2000)
    parser.add_argument("--formulas", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--step", choices=STEPS, default=None)
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="atlas-"))
    numbers = (chosen.records, chosen.networks, chosen.formulas)
    if chosen.step is not None:
        began = time.perf_counter()
        told = STEPS[chosen.step](folder, *numbers)
        told |= {"seconds": round(time.perf_counter() - began, 1), **cost()}
        print(json.dumps(told))
    else:
        done = folder.with_name(f"{folder.name}-steps.json")
        result = json.loads(done.read_text()) if done.exists() else {}
        for step in [each for each in STEPS if each not in result]:
            options = ["--folder", str(folder), "--step", step]
            for option, value in zip(("records", "networks", "formulas"), numbers, strict=True):
                options += [f"--{option}", str(value)]
            command = [sys.executable, __file__, *options]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            result[step] = json.loads(said)
            done.write_text(json.dumps(result))
            print(step, said.strip(), file=sys.stderr, flush=True)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        print(json.dumps({**result, "store megabytes": size // 2**20}, indent=1))
