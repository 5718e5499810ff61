"""Fit the numbers that weigh formulas (src/closedform/judge/weighing.json) on generated problems:

    python bench/scripts/fit_weighing.py collect --store runs --seed 5101 --count 160
    python bench/scripts/fit_weighing.py fit --store runs --seed 5101

`collect` draws networks and controls of the suite `verdict`, half as many networks of the suite
`random` and fields, searches each for 6 processor seconds, and keeps what every contender leaves
over on unseen points. An interrupted run goes on where it was; several may share a store with
--part 0/2 and --part 1/2. `fit` maximises the weight of the truth where it is in the pool, then
fits by logistic regression, controls included, how likely the heaviest formula is the truth.
"""

import argparse
import json
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import closedform as cf
from closedform.alignment.scores import field_misalignment
from closedform.expressions.description import description_length
from closedform.expressions.fitted_constants import fitted_positions
from closedform.judge.confidence import economy_and_left, shared_error
from closedform.judge.evidence import Weighing, clues_of, weights_of
from closedform.judge.pool import weigh
from closedform.judge.select_stage import select
from closedform.judge.witnesses import Witnesses
from closedform.neighbours.same_form import group_by_form
from closedform.searching.budget import processor_seconds
from closedform.searching.search_stage import search
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import exact_field
from closedform_bench.formulas.scoring import is_right
from closedform_bench.formulas.trained import network_field
from closedform_bench.verdicts.case import VerdictCase
from closedform_bench.verdicts.drawing import draw_case

WEIGHING = Path(__file__).parents[2] / "src" / "closedform" / "judge" / "weighing.json"
SEARCH, CHOICE = 6.0, 3.0
CLOSE = 1e-3
STRENGTH = 10.0
UNBOUNDED = Weighing((np.inf, np.inf), 0.0, (0.0,))


@dataclass(frozen=True)
class PoolRow:
    """What a pool looks like on unseen points.

    Attributes
    ----------
    means : ndarray, shape (n, 2)
    lengths : ndarray, shape (n,)
    groups : list of int
    right : ndarray of bool, shape (n,)
    pieces : (float, float)
    own_clues : ndarray, shape (n, 4)
        Economy, what is left, how far neighbours share it, and fitted numbers.
    has_values : bool
    """

    name: str
    means: np.ndarray
    lengths: np.ndarray
    groups: list[int]
    right: np.ndarray
    pieces: tuple[float, float]
    own_clues: np.ndarray
    has_values: bool


def draw(part: str, seed: int, number: int) -> VerdictCase:
    """A case of the suite `verdict`, or a network of the suite `random`."""
    if part != "random":
        return draw_case(part, seed, number)  # type: ignore[arg-type]
    (problem,) = draw_problems(1, 10_000 * seed + number)
    field = network_field(problem, np.random.default_rng([seed, number]))
    return VerdictCase(f"random-{seed}-{number}", "silu, random", field, problem)


def measure(case: VerdictCase, seed: int) -> PoolRow | None:
    """Search, choose, and judge all that competed where nobody has looked."""
    field = case.field
    with processor_seconds():
        result = search(field, budget=SEARCH, rng=seed, progress=False)
        found = select(result, field, rng=0, budget=CHOICE)
    if not found.contenders:
        return None
    seen = np.asarray(result.seen)
    new = np.setdiff1d(np.flatnonzero(field.weights > 0), seen)
    formulas = [one.expression for one in found.contenders]
    before = Witnesses.of(field.subset(seen))
    after = Witnesses.of(field.subset(new), before)
    first = [before.hear(formula.tree) for formula in formulas]
    later = [
        after.hear(formula.tree, None if one.phi is None else one.phi.phi)
        for formula, one in zip(formulas, first, strict=True)
    ]
    means = np.array([after.means(heard, found.scales) for heard in later])
    lengths = np.array([description_length(formula.tree) for formula in formulas])
    return PoolRow(
        name=case.name,
        means=means,
        lengths=lengths,
        groups=group_by_form(formulas, after.field),
        right=np.array([_is_true(case, formula) for formula in formulas]),
        pieces=weigh(first[0], before, UNBOUNDED)[1],
        own_clues=np.array(
            [
                (
                    *economy_and_left(after, mean, length),
                    shared_error(before, heard, found.scales),
                    len(fitted_positions(formula.tree)),
                )
                for formula, heard, mean, length in zip(
                    formulas, first, means, lengths, strict=True
                )
            ]
        ),
        has_values=after.has_values,
    )


def _is_true(case: VerdictCase, formula: cf.Expression) -> bool:
    problem = case.problem
    if problem is None:
        return False
    try:
        own = formula.rename(problem.names)
        near = field_misalignment(own, exact_field(problem, np.random.default_rng(98))).mean()
        return bool(near < CLOSE) and is_right(problem, own, approximately=True)
    except cf.ClosedformError:  # not defined on all of the problem's ranges
        return False


def weighed(row: PoolRow, most: np.ndarray, price: float) -> tuple[np.ndarray, np.ndarray]:
    """What each formula leaves over, in nats, and its weight."""
    fits = row.means @ np.minimum(most, row.pieces)
    return fits, weights_of(fits + price * row.lengths, row.groups)


def is_true_form(row: PoolRow) -> np.ndarray:
    """Which formulas have a form of which some spelling is the truth."""
    forms = {row.groups[place] for place in np.flatnonzero(row.right)}
    return np.array([group in forms for group in row.groups])


def loss(theta: np.ndarray, rows: list[PoolRow]) -> float:
    """Mean log weight of the truth where it was found, with a weak prior."""
    most, price = np.exp(theta[:2]), float(np.exp(theta[2]))
    weights = [weighed(row, most, price)[1][is_true_form(row)].sum() for row in rows]
    prior = 2e-3 * ((theta - [3, 3, -0.5]) ** 2).sum()
    return float(-np.mean(np.log(np.maximum(weights, 1e-6))) + prior)


def fitted(rows: list[PoolRow], *, has_values: bool) -> tuple[dict[str, object], dict[str, object]]:
    """Counts and price of the greatest likelihood, then what the clues say; and how well that is
    calibrated on folds that were not fitted.
    """
    found = [row for row in rows if row.right.any()]
    start = np.array([0.5, 2.5, -0.4] if has_values else [4.5, 0.0, 0.0])
    theta = minimize(loss, start, args=(found,), method="Nelder-Mead", options={"maxfev": 600}).x
    most, price = np.exp(theta[:2]), float(np.exp(theta[2]))
    table, right = [], []
    for row in rows:
        fits, weights = weighed(row, most, price)
        best = int(weights.argmax())
        economy, left, shared, n_fitted = row.own_clues[best]
        clues = clues_of(fits, weights, economy, left, shared, int(n_fitted))
        table.append(list(asdict(clues).values()))
        right.append(bool(is_true_form(row)[best]))
    x, y = np.array(table), np.array(right)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    scaled = (x - centre) / spread
    folds = np.asarray(cross_val_predict(model, scaled, y, cv=10, method="predict_proba"))[:, 1]
    model.fit(scaled, y)
    slopes = np.asarray(model.coef_)[0] / spread
    constant = float(np.asarray(model.intercept_)[0] - slopes @ centre)
    sure = folds >= 0.95
    bins = np.array_split(np.argsort(folds), 10)
    error = sum(len(one) * abs(folds[one].mean() - y[one].mean()) for one in bins) / len(y)
    told = {
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
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--part", default="0/1")
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    if given.step == "collect":
        turn, of = map(int, given.part.split("/"))
        half = given.count // 2
        sizes = {"networks": given.count, "random": half, "controls": half, "fields": half}
        cases = [(part, number) for part, size in sizes.items() for number in range(size)]
        for part, number in cases[turn::of]:
            file = given.store / f"{part}-{given.seed}-{number}.pickle"
            if not file.exists():
                row = measure(draw(part, given.seed, number), given.seed)
                file.write_bytes(pickle.dumps(None if row is None else asdict(row)))
                print(file.name, flush=True)
        return
    stored = [pickle.loads(p.read_bytes()) for p in sorted(given.store.glob(f"*-{given.seed}-*"))]
    rows = [PoolRow(**row) for row in stored if row is not None]
    numbers: dict[str, object] = {}
    cases = {}
    for name, has_values in (("with values", True), ("without values", False)):
        own = [row for row in rows if row.has_values == has_values]
        numbers[name], cases[name] = fitted(own, has_values=has_values)
        print(name, numbers[name], cases[name], flush=True)
    command = f"python bench/scripts/fit_weighing.py fit --store runs --seed {given.seed}"
    numbers["run"] = {"command": command, "seeds": [given.seed], "cases": cases}
    WEIGHING.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
