"""Other tools on the same fields and core: time to their best, and whether it is right."""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.reading.one_field import compile_all, interpret_field
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.evolution.operon import is_available
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace
from closedform_bench.paper.direct_regression import regress
from closedform_bench.speed import other_tools
from closedform_bench.speed.known_fields import FIELDS, TimedField
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.tables import table
from closedform_bench.speed.timing import timed

N_POINTS = 500
SECONDS = 10.0
"""Of the processor, after which another tool is given up."""

FIRST = 4000
"""Evaluations of pyoperon's first run; each further one gets twice as many."""

PATIENCE = 3600.0
"""Seconds by the clock: a limit that is never met, since evaluations are what ends a run."""


def plain(values: FloatArray) -> FloatArray:
    """The concept itself."""
    return values


def distorted(values: FloatArray) -> FloatArray:
    """An invertible function of the concept, as networks compute."""
    standard = (values - values.mean()) / values.std()
    return np.tanh(standard) + 0.2 * standard


LATENTS: dict[str, Callable[[FloatArray], FloatArray]] = {"plain": plain, "distorted": distorted}


def measure(effort: Effort) -> Numbers:
    """closedform on directions; all others on the latent's values, plain and distorted."""
    names = ["determinant"] if effort.is_short else list(FIELDS)
    seconds = 0.5 if effort.is_short else SECONDS
    compile_all()
    _read(FIELDS[names[0]])  # a first use imports
    rows: dict[str, Numbers] = {name: {"closedform": _read(FIELDS[name])} for name in names}
    if is_available():
        _regress(FIELDS[names[0]], "plain", 0.0)
        for name in names:
            for latent in LATENTS:
                rows[name][f"pyoperon, {latent}"] = _regress(FIELDS[name], latent, seconds)
    tools: dict[str, str] = {}
    if effort.others is not None:
        for tool in other_tools.TOOLS:
            found = _in_other_environment(effort.others, tool, names, seconds)
            tools[tool] = found.pop("version")
            for key, outcome in found.items():
                name, _, latent = key.partition("/")
                rows[name][f"{tool}, {latent}"] = outcome
    return {"rows": rows, "tools": tools, "given_up": seconds}


def _read(known: TimedField) -> Numbers:
    field = known.plain_field(N_POINTS)
    budget = Budget(seconds=30.0)
    with processor_seconds():
        alone, _ = timed(lambda: search(field, budget=budget, rng=0, progress=False))
        whole, answer = timed(lambda: interpret_field(field, budget=budget, rng=0, progress=False))
    right = answer.concept is not None and known.is_right(answer.concept)
    return {"search": alone, "seconds": whole, "right": right}


def _regress(known: TimedField, latent: str, most: float) -> Numbers:
    """Runs with the same seed and ever more evaluations: the first that is right says how long it
    takes.
    """
    points = known.points(N_POINTS)
    values = LATENTS[latent](known.concept(points))
    evaluations = FIRST
    while True:
        fit = partial(
            regress,
            points,
            values,
            known.names,
            SearchSpace(),
            seconds=PATIENCE,
            seed=0,
            evaluations=evaluations,
        )
        seconds, front = timed(fit)
        if any(known.is_right(formula) for formula in front):
            return {"seconds": seconds, "right": True}
        if seconds > most:
            return {"seconds": seconds, "right": False}
        evaluations *= 2


def _in_other_environment(
    interpreter: str, tool: str, names: list[str], seconds: float
) -> dict[str, Any]:
    arrays: dict[str, FloatArray] = {}
    for name in names:
        known = FIELDS[name]
        points, fresh = known.points(N_POINTS), known.points(2000, seed=999)
        for latent, change in LATENTS.items():
            arrays[f"{name}/{latent}/points"] = points
            arrays[f"{name}/{latent}/values"] = change(known.concept(points))
            arrays[f"{name}/{latent}/fresh"] = fresh
            arrays[f"{name}/{latent}/gradients"] = known.concept.gradient(fresh)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "fields.npz"
        np.savez(file, **arrays)  # type: ignore[arg-type]  # names are no options
        command = [interpreter, "-I", other_tools.__file__, str(file), tool, str(seconds)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def show(numbers: Numbers, folder: Path) -> str:
    """A table with a row for each field."""
    rows = numbers["rows"]
    tools = list(dict.fromkeys(key for row in rows.values() for key in row if key != "closedform"))
    lines = [
        (
            f"`{FIELDS[name].truth}`",
            f"{row['closedform']['search']:.2f}",
            _cell(row["closedform"]),
            *(_cell(row[tool]) for tool in tools),
        )
        for name, row in rows.items()
    ]
    used = "".join(f", {name} {version}" for name, version in numbers["tools"].items())
    left_out = (
        "" if numbers["tools"] else " gplearn and PySINDy were not available and are left out."
    )
    return (
        f"{N_POINTS} points of exact concepts. closedform sees directions alone; the others "
        "(pyoperon's own regressor"
        + used
        + ") fit the latent's values, once as they are and once behind an invertible function, "
        "as in a network. Cells are processor seconds to the right formula (1 - cos² of the "
        f"gradients below {other_tools.RIGHT:g} at fresh points); 'no' means that it was not right "
        f"after {numbers['given_up']:.0f} s, with the seconds used (gplearn: to its best). "
        "closedform's whole reading includes the verdict. For pyoperon any formula of its front "
        "counts, and its seconds are right within a factor of two. PySINDy's library has "
        "polynomials up to degree 3 and sin, cos, exp and log of single inputs." + left_out + "\n\n"
    ) + table(("concept", "closedform, search", "closedform, whole", *tools), lines)


def _cell(outcome: Numbers) -> str:
    seconds = f"{outcome['seconds']:.2f}"
    return seconds if outcome["right"] else f"no ({seconds})"


OTHERS = Part("others", "Against others", measure, show)
