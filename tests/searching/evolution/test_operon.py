import builtins
import importlib

import numpy as np
import pytest

import closedform as cf
from closedform.errors import MissingDependencyError
from closedform.expressions.operators import OPERATORS
from closedform.searching.evolution import operon
from closedform.searching.evolution.decode import decode
from closedform.searching.evolution.operon import (
    Breeder,
    OperonMissingError,
    is_available,
    usable_operators,
)
from closedform.searching.evolution.spelling import to_operon
from closedform.searching.space import SearchSpace


@pytest.fixture
def breeder():
    pytest.importorskip("pyoperon")
    return Breeder(2, SearchSpace(), seed=3, max_length=15, max_depth=6, tournament=3)


def test_without_pyoperon_the_error_says_what_to_do(monkeypatch):
    def refuse(name, *arguments):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(operon, "import_module", refuse)
    operon.load.cache_clear()
    operon.why_unavailable.cache_clear()
    assert not is_available()
    with pytest.raises(OperonMissingError, match="use the engine 'terms'") as caught:
        operon.load()
    assert isinstance(caught.value, MissingDependencyError)
    assert caught.value.name == "pyoperon"
    operon.load.cache_clear()
    operon.why_unavailable.cache_clear()


def test_importing_the_engine_does_not_import_pyoperon(monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **options):
        assert not name.startswith("pyoperon")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    importlib.reload(importlib.import_module("closedform.searching.evolution.operon"))


def test_coefficients_are_written_back(breeder):
    individual = breeder.plant(
        to_operon(cf.parse("2*x + 3*y", names=["x", "y"]).tree, breeder.functions)
    )
    before = breeder.read([individual]).coefficients
    assert sorted(before.tolist()) == [1, 1, 2, 3]
    breeder.write(individual, before * 10)
    np.testing.assert_allclose(breeder.read([individual]).coefficients, before * 10)


def test_too_few_coefficients_are_refused(breeder):
    """pyoperon itself would read foreign memory."""
    individual = breeder.plant(
        to_operon(cf.parse("2*x + 3*y", names=["x", "y"]).tree, breeder.functions)
    )
    with pytest.raises(ValueError, match="3 coefficients for 4 leaves"):
        breeder.write(individual, np.ones(3))


def test_trees_beyond_the_limits_are_not_planted(breeder):
    long = " + ".join(["x*y"] * 5)
    assert (
        breeder.plant(to_operon(cf.parse(long, names=["x", "y"]).tree, breeder.functions)) is None
    )


def test_offspring_keep_the_limits_and_the_operators(breeder):
    members = breeder.create(100)
    for _ in range(5):
        members = breeder.breed(members, np.random.default_rng(0).random(100), 100)
    reading = breeder.read(members)
    assert np.diff(reading.starts).max() <= 15
    names = map(str, SearchSpace().operators)
    allowed = {operon._hash(operon.load(), OPERATORS[name].operon) for name in names}
    functions = set(reading.hashes.tolist()) - set(
        breeder.alphabet.hashes[breeder.alphabet.codes < 2].tolist()
    )
    assert functions <= allowed
    assert (
        len(
            decode(breeder.alphabet, *(getattr(reading, f) for f in reading.__slots__)).tapes.starts
        )
        == 101
    )


@pytest.mark.parametrize("operators", [("add",), ("sin",), ("mul", "exp"), ("div",), ("pow",)])
def test_small_sets_of_operators_breed(operators):
    pytest.importorskip("pyoperon")
    breeder = Breeder(
        1, SearchSpace(operators=operators), seed=1, max_length=9, max_depth=5, tournament=2
    )
    members = breeder.create(50)
    assert len(breeder.breed(members, np.arange(50.0), 50)) == 50
    assert usable_operators(SearchSpace(operators=operators))


def test_functions_outside_the_space_are_not_planted():
    """A mutation of such a tree would raise 'Unknown node hash'."""
    pytest.importorskip("pyoperon")
    breeder = Breeder(
        2, SearchSpace(operators=("sub", "sin")), seed=1, max_length=15, max_depth=6, tournament=2
    )
    for text in ("x*y", "exp(x) - y"):
        assert (
            breeder.plant(to_operon(cf.parse(text, names=["x", "y"]).tree, breeder.functions))
            is None
        )
    assert (
        breeder.plant(to_operon(cf.parse("sin(-x)", names=["x", "y"]).tree, breeder.functions))
        is not None
    )


def test_a_pyoperon_that_cannot_breed_is_not_available(monkeypatch):
    pytest.importorskip("pyoperon")

    def broken(self, parents, scores, count):
        raise TypeError("incompatible function arguments")

    monkeypatch.setattr(operon.Breeder, "breed", broken)
    operon.why_unavailable.cache_clear()
    assert not operon.is_available()
    assert "incompatible" in str(operon.why_unavailable())
    monkeypatch.undo()
    operon.why_unavailable.cache_clear()
    assert operon.is_available()
