"""Other tools on the paper's twelve shipped networks: they fit the latent's values, as the baseline
of `closedform reproduce` does.

Run it: python bench/scripts/compare_tools.py [--tools gplearn gplearn-ranks pysindy] [--seconds 4]

Every tool sees the 500 points that pyoperon's regressor sees there, and gets as many seconds of the
processor; its formulas are scored in the same way, and whoever chooses from them is taken to choose
well. Needs `pip install gplearn pysindy`. Prints one JSON object for each tool, as it ends.

gplearn: the best program of each length in its last population; its fitness is the correlation with
the values (it does not fit slope and offset), or that of their ranks, for which an invertible
function of the concept is as good as the concept. PySINDy: sparse regression (STLSQ) in libraries
of monomials to degree 1 to 4, with and without sines, cosines and exponentials of the inputs, as
far as they have fewer terms than there are points, at six thresholds each; of the results those of
at most 20 terms.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from math import comb
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from closedform.canonical.form import canonical_form
from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform_bench.paper.answer_scoring import best_score
from closedform_bench.paper.direct_regression import MOST_POINTS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.network_reading import SMOOTHING, is_rectified
from closedform_bench.paper.shipped import SEED, load_checkpoint

Fit = Callable[[np.ndarray, np.ndarray, Sequence[str], float], Iterator[str]]


def fit_gplearn(
    points: np.ndarray,
    values: np.ndarray,
    names: Sequence[str],
    seconds: float,
    metric: str = "pearson",
) -> Iterator[str]:
    """Evolve until the time is over."""
    functions = import_module("gplearn.functions")
    genetic = import_module("gplearn.genetic")

    def own(name: str, function: Callable[[np.ndarray], np.ndarray]) -> Any:
        return functions.make_function(function=function, name=name, arity=1, wrap=False)

    regressor = genetic.SymbolicRegressor(
        population_size=1000,
        generations=1,
        function_set=(
            "add", "sub", "mul", "div", "sqrt", "log", "sin", "cos",
            own("exp", lambda x: np.exp(np.clip(x, -50, 50))), own("tanh", np.tanh),
            own("square", np.square),
        ),
        metric=metric,
        warm_start=True,
        random_state=0,
    )  # fmt: skip
    end = time.process_time() + seconds
    while time.process_time() < end:
        with np.errstate(all="ignore"):
            regressor.fit(points, values)
        regressor.generations += 1
    best: dict[int, Any] = {}
    for program in regressor._programs[-1]:
        known = best.get(program.length_)
        if known is None or program.raw_fitness_ > known.raw_fitness_:
            best[program.length_] = program
    for program in sorted(best.values(), key=lambda program: -program.raw_fitness_):
        yield written(program.program, names)


FORMS = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({})*({})",
    "div": "({})/({})",
    "square": "({})**2",
    "sqrt": "sqrt(abs({}))",
    "log": "log(abs({}))",
}
"""How a program of gplearn is written as a formula; its roots and logarithms are those of the
absolute value.
"""


def written(program: list[Any], names: Sequence[str]) -> str:
    """A program of gplearn, which is in prefix order, as a formula."""
    stack: list[str] = []
    for node in reversed(program):
        if isinstance(node, int):
            stack.append(names[node])
        elif isinstance(node, float):
            stack.append(f"({node!r})" if node < 0 else repr(float(node)))
        else:
            operands = [stack.pop() for _ in range(node.arity)]
            form = FORMS[node.name] if node.name in FORMS else node.name + "({})"
            stack.append(form.format(*operands))
    return stack.pop()


def fit_pysindy(
    points: np.ndarray, values: np.ndarray, names: Sequence[str], seconds: float
) -> Iterator[str]:
    """Sparse regression of the values on libraries; it needs far less than the time."""
    ps = import_module("pysindy")
    # PySINDy counts the arguments of plain functions and of nothing else.
    functions = [lambda x: np.sin(x), lambda x: np.cos(x), lambda x: np.exp(x)]
    writers = [lambda x: f"sin({x})", lambda x: f"cos({x})", lambda x: f"exp({x})"]
    for degree, has_functions, share in product(
        (1, 2, 3, 4), (False, True), (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    ):
        if comb(len(names) + degree, degree) >= len(points):
            continue
        library = ps.PolynomialLibrary(degree=degree)
        if has_functions:
            library += ps.CustomLibrary(functions, writers)
        model = ps.SINDy(
            optimizer=ps.STLSQ(threshold=share * float(np.std(values)), alpha=1e-6),
            feature_library=library,
        )
        centred = (values - values.mean())[:, None]
        with catch_warnings():
            simplefilter("ignore")  # where a threshold leaves nothing
            model.fit(points, t=1.0, x_dot=centred, feature_names=list(names))
        terms = zip(model.coefficients()[0], model.get_feature_names(), strict=True)
        kept = [f"({float(c)!r})*{in_python(name)}" for c, name in terms if c and name != "1"]
        if 0 < len(kept) <= MOST_TERMS:
            yield " + ".join(kept)


MOST_TERMS = 20


def in_python(name: str) -> str:
    """A feature of PySINDy, such as ``x^2 v``, as a formula."""
    return "*".join(name.replace("^", "**").split())


TOOLS: dict[str, Fit] = {
    "gplearn": fit_gplearn,
    "gplearn-ranks": partial(fit_gplearn, metric="spearman"),
    "pysindy": fit_pysindy,
}


def run(fit: Fit, number: int, seconds: float) -> dict[str, Any]:
    """One tool on one network."""
    module = load_checkpoint(number)
    smoothing = SMOOTHING if is_rectified(module) else 0.0
    field = extract_experiment(number, module, smoothing=smoothing, seed=SEED)
    assert field.latents is not None
    counted = np.flatnonzero(field.weights > 0)
    if len(counted) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(counted), MOST_POINTS, replace=False)
        counted = counted[chosen]
    names = EXPERIMENTS[number].inputs
    began = time.process_time()
    texts = list(fit(field.points[counted], field.latents[counted, 0], names, seconds))
    spent = time.process_time() - began
    forms = [form for text in texts if (form := canonical(text, names, field.points)) is not None]
    place, found = best_score(number, forms, field.points)
    return {
        "number": number,
        "formulas": len(forms),
        "found": None if place is None else str(forms[place]),
        "equivalence": found.status,
        "processor_seconds": round(spent, 1),
    }


def canonical(text: str, names: Sequence[str], points: np.ndarray) -> Expression | None:
    """The canonical form of a formula, if it has one on the data."""
    try:
        return canonical_form(parse(text, list(names)), points)
    except ClosedformError:
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--experiments", nargs="+", type=int, default=list(EXPERIMENTS))
    asked = parser.parse_args()
    for tool in asked.tools:
        rows = [run(TOOLS[tool], number, asked.seconds) for number in asked.experiments]
        recovered = sum(row["equivalence"] != "different" for row in rows)
        print(json.dumps({"tool": tool, "recovered": recovered, "rows": rows}), flush=True)
