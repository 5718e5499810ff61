"""Groups of alike inputs, sums over them, and formulas of such sums."""

import pickle

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExpressionError, FieldError
from closedform.expressions.json_files import _read, _written
from closedform.expressions.sites import (
    FormulaOfSums,
    Group,
    as_groups,
    names_with_groups,
    parse_sums,
)

NAMES = ["T", *(f"s[{place}]" for place in range(6))]
GROUPS = {"s": Group(range(1, 7), shape=(2, 3))}
TEXTS = [
    "sum(s[i])**2",
    "sum(s[i]*s[j], neighbours)/T",
    "T*sum(sin(1.3*s[i])) + sum((s[i] - s[j])**2, neighbours)",
]


def points(count=20):
    return np.random.default_rng(0).uniform(0.5, 2.0, (count, 7))


def test_neighbours_on_a_ring_and_on_a_line():
    assert len(Group(range(6), shape=(6,)).pairs) == 6
    assert len(Group(range(6), shape=(6,), periodic=False).pairs) == 5
    assert len(Group(range(100), shape=(10, 10)).pairs) == 200
    # Around a ring of two the neighbour on both sides is the same one.
    assert len(Group(range(6), shape=(2, 3)).pairs) == 3 + 6
    assert Group(range(4), neighbours=[(0, 3)]).pairs.tolist() == [[0, 3]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"s": [0, 1]},
        {"s": [0, 1, 1]},
        {"s": [0, 1, 99]},
        {"s": [0, 1, "q"]},
        {"s": [0, 1, 2], "t": [2, 3, 4]},
        {},
    ],
)
def test_groups_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(FieldError):
        as_groups(wrong, [f"x{column}" for column in range(5)])


@pytest.mark.parametrize("options", [{"shape": (2, 2)}, {"neighbours": [(0, 9)]}])
def test_lattices_that_do_not_fit_are_refused(options):
    with pytest.raises(FieldError):
        Group(range(6), **options)


def test_names_follow_groups():
    assert names_with_groups({"s": range(1, 7)}, 7)[1] == "s[0]"


@pytest.mark.parametrize("text", TEXTS)
def test_formulas_are_read_back_and_saved(text):
    formula = parse_sums(text, GROUPS, NAMES)
    assert str(formula) == text
    assert cf.parse(str(formula), NAMES, groups=GROUPS) == formula
    assert _read(_written(formula)) == formula
    assert pickle.loads(pickle.dumps(formula)) == formula


@pytest.mark.parametrize("text", TEXTS)
def test_gradients_are_those_of_the_values(text):
    formula, here, step = parse_sums(text, GROUPS, NAMES), points(), 1e-6
    for column in range(7):
        there, back = here.copy(), here.copy()
        there[:, column] += step
        back[:, column] -= step
        slope = (formula(there) - formula(back)) / (2 * step)
        assert formula.gradient(here)[:, column] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("text", TEXTS)
def test_exports_agree(text):
    import torch

    formula, here = parse_sums(text, GROUPS, NAMES), points()
    assert formula.torch()(torch.as_tensor(here)).numpy() == pytest.approx(formula(here))
    written = cf.parse(str(formula.sympy()).replace("s[", "s_").replace("]", ""))
    columns = [
        NAMES.index(name.replace("s_", "s[") + "]" * (name != "T")) for name in written.names
    ]
    assert written(here[:, columns]) == pytest.approx(formula(here))


def test_latex_writes_sums():
    assert parse_sums(TEXTS[1], GROUPS, NAMES).latex() == (
        r"\frac{\left(\sum_{\langle i, j \rangle} s_{i} s_{j}\right)}{T}"
    )


def test_inputs_in_another_order():
    formula, here = parse_sums(TEXTS[2], GROUPS, NAMES), points()
    order = [6, 3, 1, 2, 0, 5, 4]
    moved = formula.rename([NAMES[place] for place in order])
    assert isinstance(moved, FormulaOfSums)
    assert moved(here[:, order]) == pytest.approx(formula(here))


@pytest.mark.parametrize(
    "wrong", ["sum(t[i])", "sum(s[i]", "sum(T)", "sum(s[i]*s[j])", "sum(s[i], neighbours"]
)
def test_sums_over_nothing_are_refused(wrong):
    with pytest.raises(ExpressionError):
        parse_sums(wrong, GROUPS, NAMES)
