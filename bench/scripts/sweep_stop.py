"""What the early stop of a sweep (`Effort(look=0.1)`) loses and what it saves.

Run it: python bench/scripts/sweep_stop.py ROWS.jsonl --seed N [--networks 10] [--costed 8]

Of each network 12 outputs, trained on formulas of the suite `random` with up to four inputs, every
second network for a fifth of the time; and two outputs each of networks with random weights, as
layers without formulas. Every neuron is read as in a sweep. Where the stop ends a reading, the
neuron is read again without it; elsewhere both are the same reading, since effort is counted in
evaluations, and of an output it is left out. A neuron is readable if a reading without the stop is
not `none`, and lost if the other one is: of outputs that were not read further only those count as
readable that the first reading has read. `weaker` counts stopped ones with a lesser verdict than
without the stop, `right lost` those whose right formula only the whole reading finds. Rows are
added one by one, so a run goes on where it was ended.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import closedform as cf
from closedform.interpretation.verdict import STATUSES
from closedform.sweeping import neuron_task
from closedform.sweeping.neuron_task import Effort, read_with
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.scoring import is_right

NAMES: tuple[str, ...] = ("x1", "x2", "x3", "x4")
LOW, HIGH = 1.0, 3.0
KINDS = (torch.nn.SiLU, torch.nn.Tanh, torch.nn.ReLU)
OUTPUTS, WIDTH, STEPS, TRAINED, READ = 12, 64, 2000, 8000, 400


def problems(seed: int, number: int) -> list[Problem]:
    """The formulas of a network's outputs."""
    drawn = draw_problems(20 * OUTPUTS, seed + 1000 * number)
    ranges = dict.fromkeys(NAMES, (LOW, HIGH))
    fit = [Problem(each.name, each.truth, ranges) for each in drawn if set(each.names) <= {*NAMES}]
    points = fit[0].points(1000, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        values = [each.formula()(points) for each in fit]
    return [each for each, v in zip(fit, values, strict=True) if np.isfinite(v).all()][:OUTPUTS]


def network(seed: int, chosen: list[Problem], steps: int = STEPS) -> torch.nn.Sequential:
    """Two hidden layers, trained on the formulas, or as it begins, far from linear."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    linear, kind = torch.nn.Linear, torch.nn.SiLU if chosen else KINDS[seed % len(KINDS)]
    layers = linear(4, WIDTH), kind(), linear(WIDTH, WIDTH), kind(), linear(WIDTH, OUTPUTS)
    made = torch.nn.Sequential(*layers)
    if not chosen:
        for parameter in made.parameters():
            parameter.data *= 3
        return made.double()
    points = np.random.default_rng(seed).uniform(LOW, HIGH, (TRAINED, len(NAMES)))
    values = np.stack([each.formula()(points) for each in chosen], axis=1)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    x, y = (torch.tensor(each, dtype=torch.float32) for each in (points, values))
    optimiser = torch.optim.AdamW(made.parameters(), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps + 1)
    for _ in range(steps):
        batch = torch.randint(TRAINED, (256,))
        optimiser.zero_grad()
        ((made(x[batch]) - y[batch]) ** 2).mean().backward()
        optimiser.step()
        schedule.step()
    return made.double()


def neurons(seed: int, count: int, costed: int) -> Iterator[tuple[str, Any, str, Problem | None]]:
    """Names, networks, neurons and the formulas behind them."""
    for place in range(costed):
        yield f"random/{place}", network(seed + place // 2, []), f"4:{place}", None
    for number in range(count):
        chosen = problems(seed, number)
        trained = network(seed + number, chosen, STEPS // 5 if number % 2 else STEPS)
        for place, problem in enumerate(chosen):
            yield f"{number}/output:{place}", trained, f"4:{place}", problem


class ReadOn(Exception):
    """Nothing stopped a reading whose rest is not asked for."""


def read_both(field: cf.GradientField, seed: int, *, is_costed: bool) -> dict[str, Any]:
    """With the stop and without it, with processor seconds.

    is_costed: whether a reading is finished that the stop does not change.
    """
    is_stopped = False
    known: dict[str, tuple[Any, float]] = {}
    asked: list[str] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **options: Any) -> Any:
            name = f"{function.__name__} {options['engine']} {options['budget']}"
            is_whole = options["budget"].evaluations == Effort().evaluations
            if is_whole and not is_costed and not is_stopped:
                raise ReadOn
            asked.append(name)
            if name not in known:
                began = time.process_time()
                found = function(*args, **options)
                known[name] = found, time.process_time() - began
            return known[name][0]

        return watched

    def read(effort: Effort) -> tuple[cf.Interpretation, float]:
        asked.clear()
        found = read_with(effort, field, seed)[0]
        return found, sum(known[name][1] for name in asked)

    ask, look = neuron_task.interpret_field, neuron_task.search
    neuron_task.interpret_field, neuron_task.search = timed(ask), timed(look)
    try:
        first = read(Effort(evaluations=0))[0]
        try:
            stopped, spent = read(Effort())
        except ReadOn:
            return told_of(first, first, is_stopped=False)
        is_stopped = len(asked) == 2 and asked[1].startswith("search")
        whole, without = read(Effort(look=0.0))
    finally:
        neuron_task.interpret_field, neuron_task.search = ask, look
    return {
        **told_of(stopped, whole, is_stopped=is_stopped), "first": first.verdict.status,
        "seconds_with": round(spent, 2), "seconds_without": round(without, 2),
    }  # fmt: skip


def told_of(stopped: cf.Interpretation, whole: cf.Interpretation, *, is_stopped: bool) -> Any:
    """Verdicts and the formula of a row."""
    formula = None if whole.concept is None else str(whole.concept)
    verdicts = {"with": stopped.verdict.status, "without": whole.verdict.status}
    known = None if stopped.concept is None else str(stopped.concept)
    return {"is_stopped": is_stopped, **verdicts, "formula with": known, "formula": formula}


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and costs of neurons."""
    readable = [row for row in rows if row["without"] != "none"]
    kinds = ("with", "without")
    seconds = [sum(row.get(f"seconds_{kind}", 0.0) for row in rows) for kind in kinds]
    return {
        "neurons": len(rows), "stopped": sum(row["is_stopped"] for row in rows),
        "readable": len(readable), "lost": sum(row["with"] == "none" for row in readable),
        "weaker": sum(STATUSES.index(row["with"]) > STATUSES.index(row["without"]) for row in rows),
        "right lost": sum(bool(row["is_right"] and not row["is_right with"]) for row in rows),
        "verified": sum(row["without"] == "verified" for row in readable),
        "seconds with, without": [round(each, 1) for each in seconds],
        "share of cost": round(seconds[0] / seconds[1], 3) if seconds[1] else None,
    }  # fmt: skip


def main() -> None:
    """Read what is not read yet, and print counts."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("rows", type=Path)
    arguments.add_argument("--seed", type=int, required=True)
    arguments.add_argument("--networks", type=int, default=10)
    arguments.add_argument("--costed", type=int, default=8, help="neurons without formulas")
    given = arguments.parse_args()
    known = given.rows.read_text().splitlines() if given.rows.exists() else []
    rows = {row["name"]: row for row in map(json.loads, known)}
    points = np.random.default_rng([given.seed, 1]).uniform(LOW, HIGH, (READ, len(NAMES)))
    for name, model, neuron, problem in neurons(given.seed, given.networks, given.costed):
        if name in rows:
            continue
        field = cf.extract_field(model, points, neuron, names=list(NAMES))
        row = {"name": name, "truth": problem and problem.truth}
        row |= read_both(field, 0, is_costed=problem is None)
        for told_as, text in (("is_right", row["formula"]), ("is_right with", row["formula with"])):
            concept = text and cf.parse(text, names=list(NAMES))
            row[told_as] = problem and is_right(problem, concept, approximately=True)
        rows[name] = row
        with given.rows.open("a") as file:
            file.write(json.dumps(row) + "\n")
    kinds = {"outputs": "/output", "random weights": "random/"}
    parts = {
        kind: told([row for name, row in rows.items() if mark in name])
        for kind, mark in kinds.items()
    }
    right = sum(bool(row["is_right"]) for row in rows.values())
    print(json.dumps({"seed": given.seed, **parts, "outputs right": right}, indent=1))


if __name__ == "__main__":
    main()
