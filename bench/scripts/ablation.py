"""What each mechanism of the search and of the choice is worth.

    python bench/scripts/ablation.py record --out rows.jsonl
    python bench/scripts/ablation.py without --out rows.jsonl [MECHANISM ...]
    python bench/scripts/ablation.py table --out rows.jsonl

`record` reads every case and notes in which of them each mechanism gives something, and how long it
takes. `without` reads those cases again with the mechanism switched off: all that were right or
verified, and the first few of the others, in which it could only hinder. A mechanism that gives
nothing in a case costs time there and nothing else. Finished readings are kept in --out, so that an
interrupted run goes on where it was. Mechanisms joined by + are switched off together; those that
the ablation removed are in the rows of bench/measurements/ablation, not here. Every kind of merge
in `KINDS` is one, by its name. With ``--unsolved rows.jsonl --budget 15`` only what is unsolved
there is read, and for longer.
"""

import argparse
import inspect
import json
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from closedform.expressions.parse import names_in
from closedform.reading.one_field import compile_all
from closedform.searching.budget import processor_seconds
from closedform.searching.engine import SearchResult
from closedform.searching.evolution.evolution_engine import Evolution
from closedform.searching.front import Front
from closedform.searching.structure_search.kinds import KINDS
from closedform.searching.structure_search.quantities import State
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.suite import FormulaPlan
from closedform_bench.invariants.bench_task import BenchTask
from closedform_bench.invariants.suites import Plan
from closedform_bench.verdicts import suite as verdict_suite

SEED, BUDGET = 42101, 6.0
"""Drawn for this table, and processor seconds of each reading."""

MOST_UNSOLVED = 2
"""Cases neither right nor verified that are read again for each mechanism."""

LAWS = ("damped", "lotka-volterra", "sir", "nose-hoover", "elliptic")
FLOWS = ("kepler", "vortices", "lotka-volterra")

SIGNED = (
    "sin(x - 3*y)*z", "x*(y + 2*z)", "atan(x - 3*y)*z + atan(z)", "v**2/2 + sin(x)", "a*d - b*c",
    "x**2/2 + exp(x + 1) + v**2/2", "sin(2.3*x + 0.4) + y**2", "exp(-x**2/2)*y", "x*sin(y) + z**2",
    "sqrt(x**2 + 1) + y", "v**2/2 + (1 - exp(-1.5*x))**2", "tanh(x)*z", "x*y/(1 + z**2)",
    "sin(x*y) + z**2", "x**2*y - z/(1 + y**2)", "x*y + y*z + x*z**3",
)  # fmt: skip
SEPARABLE = (
    "log(f) - 0.3*f + sin(r) + 0.2*r*exp(-r)", "0.11*log(f) + 0.04*log(r) - 0.04*f - 0.01*r",
    "f*exp(-f) + sqrt(f) + sin(2*r)/r", "log(1 + f**2) - f/3 + r**2*exp(-r/2)",
)  # fmt: skip
"""Formulas of inputs from -2 to 2, which the suites have few of, one more input than they need; and
sums of several functions of one input each, from 1 to 10."""

S = "closedform.searching."
RUN = S + "structure_search.structure_run:"
KIND = "kind of merge: "
PORTFOLIO = S + "portfolio:"
TERMS = S + "terms.term_run:"
POOL = "closedform.judge.pool:"
MADE = "closedform.judge.neighbours.made_forms:"
EXCHANGED = "closedform.judge.neighbours.exchanged:"

PEEL = "closedform.canonical.peel:"
LAW = "closedform.reading.laws.law_search:"

Stub = Callable[..., Any]


def nothing(original: Stub, *arguments: Any, **keywords: Any) -> list[Any]:
    """An empty list, for functions that return several."""
    return []


def none(original: Stub, *arguments: Any, **keywords: Any) -> None:
    """None, for functions that may find nothing."""


def false(original: Stub, *arguments: Any, **keywords: Any) -> bool:
    """False, for steps that say whether they ended the search."""
    return False


def first_argument(original: Stub, argument: Any, *others: Any, **keywords: Any) -> Any:
    """What was passed, for functions that improve something."""
    return argument


def no_engine(original: Stub, *arguments: Any, **keywords: Any) -> SearchResult:
    """An engine that finds nothing."""
    return SearchResult(Front(), "finished", {"engine": "off", "seconds": 0.0, "evaluations": 0})


def not_evolution(original: Stub, run: Any, engine: Any, *others: Any, **keywords: Any) -> Any:
    """Other engines than evolution alone."""
    return [] if isinstance(engine, Evolution) else original(run, engine, *others, **keywords)


def up_to_bias(original: Stub, portfolio: Any, run: Any, *others: Any) -> bool:
    """Nothing more after a formula as good as what seems a network's bias."""
    return original(portfolio, run, *others) or portfolio._is_solved_up_to_bias(run)


def all_inputs(original: Stub, data: Any, level: float) -> list[int]:
    """No input is left out."""
    return list(range(data.points.shape[1]))


def has_some(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether something is returned."""
    return result is not None and (not hasattr(result, "__len__") or len(result) > 0)


def gives_good(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether a kind finds merges that lose nothing, or states."""
    return any(one.loss < arguments[0].level or isinstance(one, State) for one in result)


def is_true(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether a step ended the search."""
    return result is True


def has_changed(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether something else than the first argument is returned."""
    return result != arguments[0]


def has_run(arguments: tuple[Any, ...], result: Any) -> bool:
    """A step that works by what it changes."""
    return True


def asks_evolution(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether a state was given to evolution."""
    return isinstance(arguments[1], Evolution) and bool(result)


def leaves_out(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether inputs seem not to matter."""
    return len(result) < arguments[0].points.shape[1]


def is_up_to_bias(arguments: tuple[Any, ...], result: Any) -> bool:
    """Whether only a network's bias is left."""
    return not result and arguments[0]._is_solved_up_to_bias(arguments[1])


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Functions that are switched off together, the stub in their place, and when they give
    something.
    """

    paths: tuple[str, ...]
    stub: Stub = nothing
    gives: Callable[[tuple[Any, ...], Any], bool] = has_some


def one(path: str, *others: Any) -> Mechanism:
    """A mechanism behind one function."""
    return Mechanism((path,), *others)


MECHANISMS = {
    "evolution": one(S + "evolution.evolution_engine:Evolution.search", no_engine, has_run),
    "evolution in structure": one(RUN + "StructureRun._ask", not_evolution, asks_evolution),
    "look at short sums": one(PORTFOLIO + "Portfolio._search_short_sums", false, is_true),
    "search beside a bias": one(
        PORTFOLIO + "Portfolio._search_by_structure", up_to_bias, is_up_to_bias
    ),
    "first shots": one(RUN + "first_shots"),
    **{name: Mechanism((KIND + name,), nothing, gives_good) for name in KINDS},
    "quotients of what is left": one(RUN + "quotients"),
    "interferences": one(RUN + "interferences"),
    "lossy merges": one(S + "structure_search.decomposition_beam:DecompositionBeam.children"),
    "inputs left out": one(RUN + "inputs_that_matter", all_inputs, leaves_out),
    "terms of a state": one(RUN + "StructureRun._read_whole", none, has_run),
    "terms of pairs": one(RUN + "StructureRun._read_parts", none, has_run),
    "exact answer beside a bias": one(RUN + "StructureRun._read_exactly", none, has_run),
    "exact sums": one(TERMS + "TermRun._take_exact", none, has_run),
    "neighbours": one(POOL + "neighbours_of"),
    "exchange of parts": one(MADE + "exchanged_parts"),
    "lengthened": one(MADE + "_lengthened"),
    "shortened": one(MADE + "_shortened"),
    "logarithm as a sum": one(POOL + "as_sum", none),
    "exchanged powers": Mechanism((EXCHANGED + "_powers", EXCHANGED + "_simple_powers")),
    "exchanged sums": one(EXCHANGED + "_sums"),
    "parts of one input": one(EXCHANGED + "_around_parts_of_one"),
    "functions of several": one(EXCHANGED + "_functions_of_several"),
    "functions of quotients": one(EXCHANGED + "_functions_of_quotients"),
    "without small terms": one(MADE + "without_small_terms"),
    "idle functions": one(MADE + "without_idle_functions", first_argument, has_changed),
    "recognised constants": one(POOL + "recognise_constants", first_argument, has_changed),
    "move into roots": one(PEEL + "into_roots", first_argument, has_changed),
    "move conjugates": one(PEEL + "conjugates"),
    "move squared": one(PEEL + "squared", none),
    "move together": one(PEEL + "_together", none),
    "move remainders": one(PEEL + "_remainders"),
    "move logarithms": one(PEEL + "_without_logarithms"),
    "law library mixed": one(LAW + "mixed_library"),
    "law library radial": one(LAW + "radial_library"),
    "law library distances": one(LAW + "distance_library"),
}


@dataclass(slots=True)
class Use:
    """How often a mechanism ran in a case, how often it gave something, and seconds spent in it."""

    calls: int = 0
    given: int = 0
    seconds: float = 0.0


def recorded(original: Stub, use: Use, gives: Callable[..., bool]) -> Stub:
    """A function that notes its use."""

    @wraps(original)
    def plain(*arguments: Any, **keywords: Any) -> Any:
        began = time.process_time()
        result = original(*arguments, **keywords)
        use.seconds += time.process_time() - began
        use.calls += 1
        use.given += bool(gives(arguments, result))
        return result

    @wraps(original)
    def lazy(*arguments: Any, **keywords: Any) -> Iterator[Any]:
        use.calls += 1
        steps, has_given = original(*arguments, **keywords), False
        while True:
            began = time.process_time()
            step = next(steps, None)
            use.seconds += time.process_time() - began
            if step is None:
                return
            if not has_given and gives(arguments, [step]):
                use.given, has_given = use.given + 1, True
            yield step

    return lazy if inspect.isgeneratorfunction(original) else plain


@contextmanager
def patched(names: Sequence[str], make: Callable[[Mechanism, Stub, str], Stub]) -> Iterator[None]:
    """Functions of mechanisms with others in their places."""
    with ExitStack() as stack:
        for name in names:
            for path in MECHANISMS[name].paths:
                if path.startswith(KIND):
                    kind = KINDS[path.removeprefix(KIND)]
                    new = replace(kind, find=make(MECHANISMS[name], kind.find, name))
                    stack.enter_context(patch.dict(KINDS, {path.removeprefix(KIND): new}))
                    continue
                module, _, attribute = path.partition(":")
                owner: Any = import_module(module)
                *classes, last = attribute.split(".")
                for each in classes:
                    owner = getattr(owner, each)
                new = make(MECHANISMS[name], getattr(owner, last), name)
                stack.enter_context(patch.object(owner, last, new))
        yield


def switched_off(mechanism: Mechanism, original: Stub, name: str) -> Stub:
    """The stub in the place of a function."""
    return lambda *arguments, **keywords: mechanism.stub(original, *arguments, **keywords)


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases by name; trained networks are kept in a folder."""

    folder: Path
    tasks: dict[str, BenchTask] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, budget: float) -> "Cases":
        """All of them, with a budget of processor seconds for each."""
        few = np.random.default_rng(SEED)
        feynman = [problem.name for problem in FormulaPlan("feynman").problems()]
        seen = [problem.name for problem in FormulaPlan("surrogates").problems()][::2]
        chosen = few.choice(feynman, 8, replace=False)
        share: dict[str, Any] = {"seed": SEED, "budget": budget}
        plans = {
            "random": FormulaPlan("random", count=25, **share),
            "random 1 degree": FormulaPlan("random", noise=1.0, count=12, **share),
            "forms": FormulaPlan("forms", count=18, **share),
            "surrogates": FormulaPlan("surrogates", systems=tuple(seen), **share),
            "feynman": FormulaPlan("feynman", systems=tuple(chosen.tolist()), **share),
            "networks": verdict_suite.VerdictPlan(("networks",), count=6, **share),
            "laws": Plan(systems=LAWS, seeds=(SEED,), budget=budget),
            "flows": Plan(track="flow", systems=FLOWS, seeds=(SEED,), budget=budget),
        }
        tasks = {
            f"{kind}: {task.content['system']}": task
            for kind, plan in plans.items()
            for task in plan.tasks()
        }
        for kind, truths, ranges in (
            ("signed", SIGNED, (-2.0, 2.0)),
            ("separable", SEPARABLE, (1.0, 10.0)),
        ):
            for truth in truths:
                names = [*names_in(truth), *(["u"] if kind == "signed" else [])]
                problem = Problem(f"{kind} {truth}", truth, dict.fromkeys(names, ranges))
                row = partial(plans["random"]._row, problem)
                tasks[f"{kind}: {truth}"] = BenchTask({"system": truth}, row)
        return cls(folder, tasks)

    def draw(self, part: Any, seed: int, number: int) -> Any:
        """A case of the suite `verdict`, trained once."""
        from closedform_bench.verdicts.drawing import draw_case

        file = self.folder / f"{part}-{seed}-{number}.pickle"
        if not file.exists():
            file.write_bytes(pickle.dumps(draw_case(part, seed, number)))
        return pickle.loads(file.read_bytes())

    def read(self, name: str) -> dict[str, Any]:
        """Read one case, and score it: right, and verified or claimed though wrong."""
        began = time.process_time()
        with processor_seconds(), patch.object(verdict_suite, "draw_case", self.draw):
            row: Any = self.tasks[name].run()
        if "recovered" in row:
            right = row["recovered"] / max(row["of"], 1)
            is_wrong, status = row["false"] > 0, "verified" if right else "none"
        else:
            right, status = float(bool(row["right"])), row["status"]
            is_wrong = status == "verified" and not row["right"]
        return {
            "case": name, "right": right, "wrong": bool(is_wrong), "status": status,
            "found": str(row["found"]), "seconds": round(float(row["seconds"]), 2),
            "took": round(time.process_time() - began, 2),
        }  # fmt: skip


def record(cases: Cases, out: Path) -> None:
    """Read every case, and note which mechanisms give something."""
    done = {row["case"] for row in rows_of(out) if row["without"] == "nothing"}
    for name in cases.tasks:
        if name in done:
            continue
        uses = {mechanism: Use() for mechanism in MECHANISMS}
        with patched(
            list(MECHANISMS), lambda m, f, key, uses=uses: recorded(f, uses[key], m.gives)
        ):
            row = cases.read(name)
        kept = {
            key: [use.calls, use.given, round(use.seconds, 3)]
            for key, use in uses.items()
            if use.calls
        }
        write(out, {"without": "nothing", **row, "uses": kept})


def without(cases: Cases, out: Path, groups: Sequence[str], most: int) -> None:
    """Read again what a group of mechanisms concerns, without it; at most so many solved ones."""
    rows = rows_of(out)
    whole = [row for row in rows if row["without"] == "nothing"]
    done = {(row["without"], row["case"]) for row in rows}
    for group in groups:
        names = group.split("+")
        for row in concerned(whole, names, most):
            if (group, row["case"]) not in done:
                with patched(names, switched_off):
                    write(out, {"without": group, **cases.read(row["case"])})


def is_solved(row: dict[str, Any]) -> bool:
    """Whether a case is right, or believed to be."""
    return bool(row["right"]) or row["status"] == "verified"


def concerned(
    whole: Sequence[dict[str, Any]], names: Sequence[str], most: int
) -> list[dict[str, Any]]:
    """The cases in which mechanisms give something, evenly spread, and of the unsolved ones a
    few.
    """
    used = [row for row in whole if any(row["uses"].get(name, [0, 0])[1] for name in names)]
    solved = [row for row in used if is_solved(row)]
    unsolved = [row for row in used if row not in solved]
    return solved[:: -(-len(solved) // most) or 1] + unsolved[:MOST_UNSOLVED]


def table(out: Path) -> None:
    """Print a line for each mechanism."""
    rows = rows_of(out)
    whole = {row["case"]: row for row in rows if row["without"] == "nothing"}
    total = sum(row["right"] for row in whole.values())
    print(f"{len(whole)} cases, right {total:g}, wrong {sum(r['wrong'] for r in whole.values())}")
    print("| without | runs in | gives in | its seconds | read again | right | wrong | seconds | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(["nothing", *MECHANISMS, *(row["without"] for row in rows)]):
        own = [row for row in rows if row["without"] == group]
        uses = [
            use
            for row in whole.values()
            for name in group.split("+")
            if (use := row["uses"].get(name))
        ]
        before = [whole[row["case"]] for row in own]
        counts = [f"{sum(r['right'] for r in each):g}" for each in (before, own)] + [
            str(sum(r["wrong"] for r in each)) for each in (before, own)
        ]
        seconds = [f"{sum(r['seconds'] for r in each):.0f}" for each in (before, own)]
        changed = [
            f"{row['case']} {old['right']:g} to {row['right']:g}"
            for row, old in zip(own, before, strict=True)
            if row["right"] != old["right"] or row["wrong"] != old["wrong"]
        ]
        print(
            f"| {group} | {len(uses)} | {sum(use[1] > 0 for use in uses)} | "
            f"{sum(use[2] for use in uses):.1f} | {len(own)} | {counts[0]} to {counts[1]} | "
            f"{counts[2]} to {counts[3]} | {seconds[0]} to {seconds[1]} | {'; '.join(changed)} |"
        )


def rows_of(out: Path) -> list[dict[str, Any]]:
    """What is kept."""
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def write(out: Path, row: dict[str, Any]) -> None:
    """Keep a row, and say so."""
    with out.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(row["without"], "|", row["case"], row["right"], row["status"], row["took"], flush=True)


def main() -> None:
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("record", "without", "table"))
    parser.add_argument("groups", nargs="*", default=list(MECHANISMS))
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    parser.add_argument("--networks", type=Path, default=Path("ablation_networks"))
    parser.add_argument("--most", type=int, default=1000, help="solved cases for each mechanism")
    parser.add_argument("--budget", type=float, default=BUDGET)
    parser.add_argument("--unsolved", type=Path, help="rows of a run with a shorter budget")
    words = parser.parse_intermixed_args()
    if words.what == "table":
        table(words.out)
        return
    words.networks.mkdir(exist_ok=True)
    compile_all()
    cases = Cases.of(words.networks, words.budget)
    for row in rows_of(words.unsolved) if words.unsolved else ():
        if row["without"] == "nothing" and is_solved(row):
            del cases.tasks[row["case"]]
    if words.what == "record":
        record(cases, words.out)
    else:
        without(cases, words.out, words.groups, words.most)


if __name__ == "__main__":
    sys.exit(main())
