import numpy as np

from closedform.expressions.parse import parse
from closedform_bench.invariants.claims import Claims
from closedform_bench.invariants.independence import count_independent, outside
from closedform_bench.invariants.outcome import score_claims, summary
from closedform_bench.invariants.system_catalogue import SYSTEMS


def scored(name: str, *found: str):
    system = SYSTEMS[name]
    points = system.points(500, np.random.default_rng(0))
    concepts = tuple(parse(text, system.inputs) for text in found)
    return score_claims(system, Claims(concepts, (), "verified", 1, 1.0), points, 0)


def test_functions_of_invariants_count_once_and_only_once() -> None:
    row = scored(
        "isotropic", "x*py - y*px", "(x*py - y*px)**3", "x**2 + px**2", "exp(y**2 + py**2)"
    )
    assert (row["recovered"], row["of"], row["false"]) == (3, 3, 0)
    row = scored("isotropic", "x*py - y*px", "(x*py - y*px)**3")
    assert (row["recovered"], row["false"]) == (1, 0)


def test_what_is_no_function_of_invariants_is_false() -> None:
    row = scored("kepler", "x*py - y*px", "x*py - y*px + 0.2*x", "px**2")
    assert (row["recovered"], row["false"]) == (1, 2)


def test_a_further_invariant_is_neither_recovered_nor_false() -> None:
    row = scored("calogero-moser", *SYSTEMS["calogero-moser"].further)
    assert (row["recovered"], row["false"]) == (0, 0)


def test_constraints_are_modulo() -> None:
    row = scored("lagrange-top", "w3 + g1**2 + g2**2 + g3**2", "g1**2 + g2**2 + g3**2 + w3**3")
    assert (row["recovered"], row["false"]) == (1, 0)
    points = SYSTEMS["traceless"].points(200, np.random.default_rng(0))
    trace = parse("A11 + A22 + A33", SYSTEMS["traceless"].inputs)
    assert (
        outside([trace], SYSTEMS["traceless"].truths(), points, SYSTEMS["traceless"].constraints)[0]
        > 0.1
    )


def test_formulas_that_are_not_defined_everywhere_are_false() -> None:
    assert scored("saddle", "log(x - 3*y*z + w**2/2)")["false"] == 1
    assert count_independent([], np.zeros((1, 1))) == 0


def test_summary_adds_up() -> None:
    rows = [scored("sir", "i + s - log(s)/2"), scored("kepler", "px")]
    result = summary("invariants", rows)
    assert (result["recovered"], result["of"], result["false_laws"]) == (1, 4, 1)
