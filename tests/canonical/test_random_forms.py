"""Random formulas: the canonical form stays in the class, is stable, is no more complex, and comes
in time.
"""

import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from closedform import Expression
from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants, with_constants
from closedform.canonical.form import canonical_form
from closedform.canonical.proposals import snapped_forms, without_small_terms
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tree import Tree, apply, constant
from closedform.field.alignment.misalignment import point_misalignment
from closedform.testing import expressions, random_tree

NAMES = ("x", "y", "z")


def points(low: float) -> FloatArray:
    return np.random.default_rng(1).uniform(low, 2, (200, len(NAMES)))


def undoubled(tree: Tree) -> Tree:
    """With x + x as 2*x, wherever in a sum the two stand."""

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        terms = list(signed_terms(whole)) if name in ("add", "sub") else []
        for number, (sign, term) in enumerate(terms):
            if (sign, term) in terms[:number]:
                rest = [part for part in terms if part != (sign, term)]
                kept = [(sign, apply("mul", constant(2), term)), *rest]
                if len(rest) == len(terms) - 2:
                    kept.sort(key=lambda part: -part[0])
                    return sum_of([t if s > 0 else apply("neg", t) for s, t in kept])
        return whole

    return tree.fold(lambda token: Tree((token,)), node)


def assert_same_on(first: Expression, second: Expression, array: FloatArray) -> None:
    """Gradients parallel and in one orientation, written apart from the code under test."""
    slopes_a, slopes_b = first.gradient(array), second.gradient(array)
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(slopes_a, axis=1)
    usable = np.isfinite(norms) & (norms > 1e-100) & (norms < 1e100) & np.isfinite(first(array))
    slopes_a, slopes_b, norms = slopes_a[usable], slopes_b[usable], norms[usable]
    assert np.isfinite(slopes_b).all()
    if len(norms) < 2:
        return
    assert point_misalignment(slopes_b, (slopes_a / norms[:, None])[:, :, None]).mean() < 1e-9
    along = np.einsum("nd,nd->n", slopes_a / norms[:, None], slopes_b)
    assert (along > 0).all() or (along < 0).all()


@settings(
    max_examples=90, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(expressions(names=NAMES, max_size=18), st.sampled_from([-2.0, 0.1]))
def test_stays_in_the_class_and_is_stable(expression: Expression, low: float) -> None:
    array = points(low)
    canonical = canonical_form(expression, array)
    assert_same_on(expression, canonical, array)
    assert canonical_form(canonical, array) == canonical
    assert Expression(undoubled(expression.tree), NAMES).complexity() >= canonical.complexity()


@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(expressions(names=NAMES, max_size=18))
def test_proposals_never_fail(expression: Expression) -> None:
    free = free_constants(expression)
    assert (
        with_constants(expression, [place.value for place in free]).complexity()
        <= expression.complexity()
    )
    for form in snapped_forms(expression, errors=[0.1] * len(free)):
        assert form.names == NAMES
        assert form.tree.variables <= expression.tree.variables
    assert all(form.tree.variables for form in without_small_terms(expression, points(0.1)))


@pytest.mark.parametrize(
    "operators", [("add", "sub", "mul", "neg"), ("add", "mul", "div", "pow", "sqrt", "exp", "log")]
)
def test_common_operators(operators: tuple[str, ...]) -> None:
    rng = np.random.default_rng(5)
    array = points(0.1)
    for _ in range(30):
        expression = Expression(
            random_tree(rng, int(rng.integers(3, 20)), len(NAMES), operators), NAMES
        )
        canonical = canonical_form(expression, array)
        assert_same_on(expression, canonical, array)
        assert canonical_form(canonical, array) == canonical


def test_takes_milliseconds() -> None:
    rng = np.random.default_rng(7)
    array = np.random.default_rng(1).uniform(0.1, 2, (2000, len(NAMES)))
    seconds: list[float] = []
    for _ in range(60):
        expression = Expression(random_tree(rng, int(rng.integers(5, 25)), len(NAMES)), NAMES)
        start = time.process_time()
        canonical_form(expression, array)
        seconds.append(time.process_time() - start)
    assert np.median(seconds) < 0.03
    assert max(seconds) < 0.5
