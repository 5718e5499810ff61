"""Fit the numbers that weigh formulas (src/closedform/judge/weighing.json) on generated problems:

    python bench/scripts/fit_weighing.py collect --store runs --seed 6203 --count 200
    python bench/scripts/fit_weighing.py fit --store runs

`collect` draws as many networks and fields of the suite `verdict`, and half as many of its controls
and networks of the suites `random` and `forms` (or only some: --parts networks forms), searches
each for 6 processor seconds, and keeps the field with all that competed (about 1 MB a case). An
interrupted run goes on where it was; several may share a store with --part 0/2 and --part 1/2.
`fit` measures what every contender leaves over on unseen points, once for each case (remove the
files `*.row` to measure anew), and takes all that the store has: it maximises the weight of the
truth where it is in the pool, then fits by logistic regression, controls included, how likely the
heaviest formula is the truth. With --clues counts and price stay, and only that is fitted. Cases of
an older search (--older) count a quarter: what a search finds decides how likely it is right.
"""

import argparse
import json
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import closedform as cf
from closedform.expressions.complexity import FITTED, description_length, fitted_positions
from closedform.field.alignment.comparison import field_misalignment
from closedform.judge.confidence import (
    Weighing,
    clues_of,
    shared_error,
    unproved_numbers,
    weights_of,
)
from closedform.judge.neighbours.same_form import group_by_form
from closedform.judge.pool import weigh
from closedform.judge.regions import Pair
from closedform.judge.rules import Contender
from closedform.judge.select_stage import select
from closedform.judge.witnesses import Witnesses
from closedform.searching.budget import processor_seconds
from closedform.searching.search_stage import search
from closedform_bench.formulas.drawn_forms import draw_form
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import exact_field
from closedform_bench.formulas.scoring import is_right
from closedform_bench.formulas.trained import network_field, varied_network_field
from closedform_bench.verdicts.case import VerdictCase
from closedform_bench.verdicts.drawing import draw_case

WEIGHING = Path(__file__).parents[2] / "src" / "closedform" / "judge" / "weighing.json"
PARTS = ("networks", "fields", "random", "forms", "controls")
SEARCH, CHOICE = 6.0, 3.0
CLOSE = 1e-3
STRENGTH, OLDER = 10.0, 0.25
FEWEST = 60
"""Cases with values, or without, that a fit needs; of fewer the numbers stay as they are."""
WITNESSES = {"both": (1, 1), "directions alone": (1, 0), "values alone": (0, 1)}
PRIOR, STIFFNESS = {True: (0.0, 2.5, -0.5), False: (3.0, 0.0, 0.0)}, 2e-3
"""Logarithms of the counts and the price that the fit starts from and stays near where the cases
say little. Trained networks say that directions add nothing to values; where a network is exact
beyond the values' floor they do, so they keep about one piece of evidence."""
UNBOUNDED = Weighing((np.inf, np.inf), 0.0, (0.0,))


@dataclass(frozen=True)
class Pool:
    """All that competed for a case: with it, new clues and prices need no new search."""

    case: VerdictCase
    seen: np.ndarray  # the points of search and choice
    contenders: tuple[Contender, ...]
    scales: Pair


@dataclass(frozen=True)
class PoolRow:
    """What a pool looks like on unseen points."""

    name: str
    means: np.ndarray  # (n_formulas, 2)
    lengths: np.ndarray  # (n_formulas,): without fitted numbers
    n_fitted: np.ndarray  # (n_formulas,)
    groups: list[int]
    right: np.ndarray  # (n_formulas,): whether some spelling of its form is the truth
    pieces: Pair
    # (n_formulas, 3): what is left, how far neighbours share it, and unproved numbers.
    own_clues: np.ndarray
    has_values: bool


def draw(part: str, seed: int, number: int) -> VerdictCase:
    """A case of the suite `verdict`, or a network of the suite `random` or `forms`."""
    if part == "forms":
        problem = draw_form(number, seed)
        field, kind = varied_network_field(problem, np.random.default_rng([seed, number]))
        return VerdictCase(f"forms-{seed}-{number}", kind, field, problem)
    if part != "random":
        return draw_case(part, seed, number)  # type: ignore[arg-type]
    (problem,) = draw_problems(1, 10_000 * seed + number)
    field = network_field(problem, np.random.default_rng([seed, number]))
    return VerdictCase(f"random-{seed}-{number}", "silu, random", field, problem)


def gather(case: VerdictCase, seed: int) -> Pool | None:
    """Search and choose."""
    with processor_seconds():
        result = search(case.field, budget=SEARCH, rng=seed, progress=False)
        found = select(result, case.field, rng=0, budget=CHOICE)
    if not found.contenders:
        return None
    return Pool(case, np.asarray(result.seen), found.contenders, found.scales)


def measure(pool: Pool) -> PoolRow:
    """Judge all that competed where nobody has looked."""
    field, scales = pool.case.field, pool.scales
    new = np.setdiff1d(np.flatnonzero(field.weights > 0), pool.seen)
    formulas = [one.expression for one in pool.contenders]
    before = Witnesses.of(field.subset(pool.seen))
    after = Witnesses.of(field.subset(new), before)
    first = [before.hear(formula.tree) for formula in formulas]
    later = [
        after.hear(formula.tree, one.phi) for formula, one in zip(formulas, first, strict=True)
    ]
    means = np.array([after.means(heard, scales) for heard in later])
    n_fitted = np.array([len(fitted_positions(formula.tree)) for formula in formulas])
    lengths = np.array([description_length(formula.tree) for formula in formulas])
    groups = group_by_form(formulas, after.field)
    true = _true_groups(pool.case, formulas, groups)
    return PoolRow(
        name=pool.case.name,
        means=means,
        lengths=lengths - FITTED * n_fitted,
        n_fitted=n_fitted,
        groups=groups,
        right=np.array([group in true for group in groups]),
        pieces=weigh(first[0], before, UNBOUNDED)[1],
        own_clues=np.array(
            [
                (
                    mean[int(after.has_values)],
                    shared_error(before, heard, scales),
                    unproved_numbers(formula, heard),
                )
                for formula, heard, mean in zip(formulas, first, means, strict=True)
            ]
        ),
        has_values=after.has_values,
    )


def rows_of(store: Path) -> list[PoolRow]:
    """The rows of all pools in a store; they stand beside the pools once they were measured."""
    rows = []
    for file in sorted(store.glob("*.pickle")):
        measured = file.with_suffix(".row")
        if not measured.exists():
            stored = pickle.loads(file.read_bytes())
            row = None if stored is None else asdict(measure(Pool(**stored)))
            measured.write_bytes(pickle.dumps(row))
        row = pickle.loads(measured.read_bytes())
        if row is not None:
            rows.append(PoolRow(**row))
    return rows


def _true_groups(case: VerdictCase, formulas: list[cf.Expression], groups: list[int]) -> set[int]:
    """Forms whose best or nearest spelling is the truth; the square of one is near, and is not."""
    problem = case.problem
    if problem is None:
        return set()
    exact = exact_field(problem, np.random.default_rng(98))
    own = [formula.rename(problem.names) for formula in formulas]
    with np.errstate(all="ignore"):
        apart = np.array([field_misalignment(formula, exact).mean() for formula in own])
    found: set[int] = set()
    for group in set(groups):
        places = np.flatnonzero(np.equal(groups, group))
        for place in {places[0], min(places, key=lambda each: apart[each])}:
            try:
                if apart[place] < CLOSE and is_right(problem, own[place], approximately=True):
                    found.add(group)
            except cf.ClosedformError:  # not defined on all of the problem's ranges
                continue
    return found


def _described(row: PoolRow) -> np.ndarray:
    """Lengths with fitted numbers, as `description_length` has them."""
    return row.lengths + FITTED * row.n_fitted


def weighed(row: PoolRow, most: np.ndarray, price: float) -> tuple[np.ndarray, np.ndarray]:
    """What each formula leaves over, in nats, and its weight."""
    fits = row.means @ np.minimum(most, row.pieces)
    return fits, weights_of(fits + price * _described(row), row.groups)


def loss(theta: np.ndarray, rows: list[PoolRow], heard: tuple[int, int]) -> float:
    """Mean log weight of the truth where it was found, if only some witnesses are heard."""
    most, price = np.multiply(heard, np.exp(theta[:2])), float(np.exp(theta[2]))
    weights = [weighed(row, most, price)[1][row.right].sum() for row in rows]
    return float(-np.mean(np.log(np.maximum(weights, 1e-6))))


def _lowest(cost: Callable[[np.ndarray], float], centre: np.ndarray) -> np.ndarray:
    """Where a cost with a weak pull to a centre is lowest: it is rough, so from several starts."""

    def pulled(theta: np.ndarray) -> float:
        return cost(theta) + STIFFNESS * float(((theta - centre) ** 2).sum())

    starts = [centre + np.array([a, 0.0, b]) for a in (-1.5, 0.0, 1.5) for b in (-0.7, 0.0, 0.7)]
    ends = [minimize(pulled, s, method="Nelder-Mead", options={"maxfev": 120}) for s in starts]
    return np.asarray(min(ends, key=lambda end: end.fun).x)


def fitted(
    rows: list[PoolRow], heeded: np.ndarray, *, has_values: bool, kept: np.ndarray | None = None
) -> tuple[dict[str, object], dict[str, object]]:
    """Counts and price of the greatest likelihood (or kept, as their logarithms), then what the
    clues say, heeding each case that much; and how well that is calibrated on folds that were not
    fitted.
    """
    found = [row for row in rows if row.right.any()]
    start = np.array(PRIOR[has_values])
    found_by = {
        name: kept
        if kept is not None
        else _lowest(lambda theta, heard=heard: loss(theta, found, heard), start)
        for name, heard in WITNESSES.items()
        if has_values or name == "directions alone"
    }
    theta = found_by["both" if has_values else "directions alone"]
    most, price = np.exp(theta[:2]), float(np.exp(theta[2]))
    table, right = [], []
    for row in rows:
        fits, weights = weighed(row, most, price)
        best = int(weights.argmax())
        left, shared, n_fitted = row.own_clues[best]
        clues = clues_of(fits, weights, _described(row), left, shared, int(n_fitted))
        table.append(list(asdict(clues).values()))
        right.append(bool(row.right[best]))
    x, y = np.array(table), np.array(right)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    scaled = (x - centre) / spread
    folds = np.zeros(len(y))
    for some, rest in StratifiedKFold(10, shuffle=True, random_state=0).split(scaled, y):
        model.fit(scaled[some], y[some], sample_weight=heeded[some])
        folds[rest] = model.predict_proba(scaled[rest])[:, 1]
    model.fit(scaled, y, sample_weight=heeded)
    slopes = np.asarray(model.coef_)[0] / spread
    constant = float(np.asarray(model.intercept_)[0] - slopes @ centre)
    sure = folds >= 0.95
    bins = np.array_split(np.argsort(folds), 10)
    error = sum(len(one) * abs(folds[one].mean() - y[one].mean()) for one in bins) / len(y)
    told = {
        "loss of the choice": {
            name: round(loss(each, found, WITNESSES[name]), 4)
            for name, each in found_by.items()
        },
        "cases": len(rows), "truth in the pool": len(found), "right": int(y.sum()),
        "log loss": round(float(-np.log(np.where(y, folds, 1 - folds)).mean()), 4),
        "calibration error": round(float(error), 4),
        "sure": int(sure.sum()), "sure and right": int((sure & y).sum()),
    }  # fmt: skip
    numbers = {
        "most": [round(float(most[0]), 2), round(float(most[1]), 2) if has_values else 0.0],
        "price": round(price, 4),
        "sure": [round(constant, 4), *(round(float(one), 4) for one in slopes)],
    }
    return numbers, told


def main() -> None:
    """Collect, or fit and write."""
    parser = argparse.ArgumentParser(description="Fit the numbers that weigh formulas.")
    parser.add_argument("step", choices=["collect", "fit"])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--older", type=Path, help="a store that an older search filled")
    parser.add_argument("--clues", action="store_true", help="keep counts and price")
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    if given.step == "collect":
        turn, of = map(int, given.part.split("/"))
        half = given.count // 2
        sizes = {part: given.count if part in PARTS[:2] else half for part in given.parts}
        cases = [(n, part) for part, size in sizes.items() for n in range(size)]
        for number, part in sorted(cases)[turn::of]:
            file = given.store / f"{part}-{given.seed}-{number}.pickle"
            if not file.exists():
                pool = gather(draw(part, given.seed, number), given.seed)
                file.write_bytes(pickle.dumps(pool and vars(pool)))
                print(file.name, flush=True)
        return
    recent = rows_of(given.store)
    rows = recent + (rows_of(given.older) if given.older else [])
    stored = json.loads(WEIGHING.read_text())
    numbers: dict[str, object] = {}
    cases = {}
    for name, has_values in (("with values", True), ("without values", False)):
        own = [row for row in rows if row.has_values == has_values]
        names = {row.name for row in recent}
        heeded = np.array([1.0 if row.name in names else OLDER for row in own])
        if len(own) < FEWEST:
            numbers[name], cases[name] = stored[name], stored["run"]["cases"][name]
            continue
        kept = np.log(np.maximum([*stored[name]["most"], stored[name]["price"]], 1e-9))
        numbers[name], cases[name] = fitted(
            own, heeded, has_values=has_values, kept=kept if given.clues else None
        )
        print(name, numbers[name], cases[name], flush=True)
    numbers["run"] = {
        "command": "python bench/scripts/fit_weighing.py fit --store runs"
        + " --clues" * given.clues
        + " --older older" * bool(given.older),
        "collected": dict(Counter(row.name.rsplit("-", 1)[0] for row in rows)),
        "cases": cases,
    }
    WEIGHING.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
