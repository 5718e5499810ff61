import numpy as np

import closedform as cf
from closedform.expressions.complexity import complexity
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.evolution.survival import HallOfFame
from closedform.searching.evolution.tree_facts import Rules, describe
from closedform.searching.space import SearchSpace

NAMES = ("x", "y")


def offer(hall, *entries):
    tapes = compile_tapes([cf.parse(text, names=list(NAMES)).tree for text, _ in entries])
    hall.offer(
        tapes, np.array([m for _, m in entries]), describe(tapes, Rules.of(hall.space, NAMES))
    )


def texts(hall):
    return [str(cf.Expression(tree, NAMES)) for _, tree in hall.front()]


def test_the_best_at_each_complexity_stays():
    hall = HallOfFame(SearchSpace(), NAMES)
    offer(hall, ("x*y", 0.3), ("x/y", 0.2), ("x + y", 0.5), ("x", 0.6))
    offer(hall, ("x - y", 0.25), ("x*y*y", 0.25), ("x*(y + x)", 0.1))
    assert texts(hall) == ["x", "x/y", "x*(y + x)"]
    assert hall.lowest == 0.1
    assert [complexity(tree) for _, tree in hall.front()] == sorted(hall.best)


def test_what_the_space_forbids_never_enters():
    hall = HallOfFame(SearchSpace(operators=("add", "mul", "sin"), max_complexity=12), NAMES)
    offer(
        hall,
        ("x/y", 0.1),
        ("x*sin(y + sin(x))", 0.1),
        ("x*y + sin(x*y + sin(3)*y + x)", 0.01),
        ("x*y", 0.4),
        ("7", 0.2),
    )
    assert texts(hall) == ["x*y"]


def test_what_cannot_be_told_apart_from_exact_is_no_change():
    hall = HallOfFame(SearchSpace(), NAMES)
    offer(hall, ("x*y", 1e-17))
    offer(hall, ("y*x", 1e-19))
    assert texts(hall) == ["x*y"]
    assert hall.lowest == ROUNDING


def test_the_simplest_good_one():
    hall = HallOfFame(SearchSpace(), NAMES)
    offer(hall, ("x", 0.5), ("x*y", 0.01), ("x*(y + x)", 0.001))
    assert hall.simplest(0.02) == 3
    assert hall.simplest(1e-6) is None


def test_entries_are_tidied():
    hall = HallOfFame(SearchSpace(), NAMES)
    offer(hall, ("3*x + 3*y*y", 0.2))
    assert texts(hall) == ["x + y*y"]
