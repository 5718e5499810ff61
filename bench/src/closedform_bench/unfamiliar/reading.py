"""Train and read one network as a user would, and score what it said."""

import time
import warnings
from typing import Any

import numpy as np
import torch

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import processor_seconds
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.unfamiliar.drawing import KINDS, SUITES, Unfamiliar
from closedform_bench.verdicts.case import VerdictCase
from closedform_bench.verdicts.suite import answers_case, is_carried, left_by_truth, share_of

BUDGET = 10.0
"""Processor seconds of a reading."""


def read(network: Unfamiliar, training: int) -> dict[str, Any]:
    """The row of one training."""
    torch.set_num_threads(1)  # small layers gain nothing from more
    torch.manual_seed(network.seed + 1000 * network.number + training)
    began = time.process_time()
    material, trained = network.train(training)
    row: dict[str, Any] = {
        "name": network.name, "kind": network.kind, "suite": network.suite, "phi": network.phi,
        "seed": network.seed, "training": training, "inputs": len(material.names),
        "truth": None if network.problem is None else network.problem.truth,
        "train": round(time.process_time() - began, 2),
    }  # fmt: skip
    began = time.process_time()
    with warnings.catch_warnings(record=True) as heard, processor_seconds():
        warnings.simplefilter("always")
        try:
            answer = cf.interpret(
                trained.model, trained.inputs, trained.neuron, names=list(material.names),
                budget=BUDGET, rng=training, progress=False, **trained.asked,
            )  # fmt: skip
        except cf.ClosedformError as error:
            return row | {"status": "refused", "said": str(error), "right": False}
    row |= {
        "seconds": round(time.process_time() - began, 2),
        "status": answer.verdict.status,
        "confidence": answer.confidence,
        "found": None if answer.concept is None else str(answer.concept),
        "alternatives": [str(formula) for formula in answer.alternatives],
        "said": str(answer),
        "warned": [str(one.message) for one in heard],
    }
    return row | _scored(network, trained, answer, material.names)


def _scored(
    network: Unfamiliar, trained: Any, answer: cf.Interpretation, names: tuple[str, ...]
) -> dict[str, Any]:
    """Whether the network carries the truth, and whether the answer is the truth."""
    problem = network.problem
    if problem is None:
        return {"right": None, "carried": None, "left": None, "in_vocabulary": None}
    field = cf.extract_field(
        trained.model, trained.inputs, trained.neuron, names=list(names), rng=0, **trained.asked
    )
    case = VerdictCase(network.name, network.kind, field, problem)
    return {
        "right": answers_case(case, answer.concept),
        "in_set": any(answers_case(case, one) for one in (answer.concept, *answer.alternatives)),
        "carried": float(field_misalignment(problem.formula(), field).mean()),
        "left": left_by_truth(problem, field),
        "in_vocabulary": cf.SearchSpace().allows(problem.formula().tree, problem.names),
    }


def read_exact(problem: Problem) -> dict[str, Any]:
    """What is found of a formula without a network's errors: from its own directions."""
    field = exact_field(problem, np.random.default_rng(0))
    with processor_seconds():
        answer = cf.interpret_field(field, budget=BUDGET, rng=0, progress=False)
    return {
        "truth": problem.truth,
        "found": None if answer.concept is None else str(answer.concept),
        "status": answer.verdict.status,
        "right": answers_case(VerdictCase("", "", field, problem), answer.concept),
    }


def carried_and_wrong(rows: list[dict[str, Any]]) -> set[str]:
    """Formulas that a network carries and that were read wrongly."""
    true = [row for row in rows if row["truth"] is not None and _carries(row)]
    return {row["truth"] for row in true if not row["right"]}


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each kind and each suite, and what counts below."""
    lines = [
        "| | trained | carry the truth | of these right | verified | wrong and verified |",
        "|---|---|---|---|---|---|",
    ]
    true = [row for row in rows if row["truth"] is not None]
    for key, entries in (("kind", KINDS), ("suite", SUITES)):
        for entry in entries:
            mine = [row for row in true if row[key] == entry]
            if mine:
                lines.append(f"| {entry} | {' | '.join(map(str, _counts(mine)))} |")
    lines.append(f"| all | {' | '.join(map(str, _counts(true)))} |")
    controls = [row for row in rows if row["truth"] is None]
    sure = [row for row in true if row["status"] == "verified"]
    carried = [row for row in true if _carries(row)]
    lines += [
        "",
        f"right, of those that carry the truth: {_share([row['right'] for row in carried])}",
        f"right, of verified: {_share([row['right'] for row in sure])}",
        f"controls verified: {_share([row['status'] == 'verified' for row in controls])}",
    ]
    return "\n".join(lines)


def _counts(rows: list[dict[str, Any]]) -> tuple[int, ...]:
    carried = [row for row in rows if _carries(row)]
    sure = [row for row in rows if row["status"] == "verified"]
    right = sum(row["right"] for row in carried)
    return len(rows), len(carried), right, len(sure), sum(not row["right"] for row in sure)


def _carries(row: dict[str, Any]) -> bool:
    return row["status"] != "refused" and is_carried(row)


def _share(hits: list[bool]) -> str:
    share = share_of(hits)
    return f"{share['count']} of {share['of']}"
