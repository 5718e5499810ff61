import numpy as np
import pytest

from closedform.expressions.evaluate import evaluate
from closedform.expressions.sums_and_products import peeled
from closedform.searching.evolution.decode import decode, take
from closedform.searching.evolution.operon import Breeder, load
from closedform.searching.evolution.spelling import to_operon, to_tree
from closedform.searching.space import SearchSpace

pyoperon = pytest.importorskip("pyoperon")


def new_breeder(seed=1, n_inputs=3, **space):
    return Breeder(
        n_inputs, SearchSpace(**space), seed=seed, max_length=20, max_depth=8, tournament=3
    )


def decoded(breeder, individuals):
    reading = breeder.read(individuals)
    return decode(
        breeder.alphabet, reading.hashes, reading.coefficients, reading.starts, reading.leaf_starts
    )


def test_trees_mean_what_pyoperon_means():
    """Operand order included: pyoperon's own evaluation is the reference, with all weights of
    inputs set to 1.
    """
    breeder, rng = (
        new_breeder(operators=("add", "sub", "mul", "div", "square", "sin")),
        np.random.default_rng(0),
    )
    points = rng.uniform(0.5, 2, (50, 3)).astype(np.float32)
    dataset = load().Dataset(np.asfortranarray(np.column_stack([points, np.zeros(50, np.float32)])))
    compared = 0
    for individual in breeder.create(300):
        reading = breeder.read([individual])
        is_input = np.isin(reading.hashes, breeder.alphabet.hashes[breeder.alphabet.codes == 1])
        is_leaf = is_input | (reading.hashes == int(load().NodeType.Constant))
        breeder.write(individual, np.where(is_input[is_leaf], 1.0, reading.coefficients))
        tapes = decoded(breeder, [individual]).tapes
        tree = to_tree(tapes, 0)
        assert tree is not None
        if tapes.starts[1] != len(reading.hashes):
            continue  # an outer function was left out
        expected = load().Evaluate(individual.Genotype, dataset, load().Range(0, 50))
        found = evaluate(tree, points.astype(float))
        sane = np.isfinite(expected) & (np.abs(expected) < 1e4) & (np.abs(expected) > 1e-3)
        if sane.all():
            np.testing.assert_allclose(found, expected, rtol=5e-3)
            compared += 1
    assert compared > 50


def test_only_the_essential_part_is_decoded():
    breeder = new_breeder()
    import closedform as cf

    for text, essential in {
        "exp(3 + 2*(x*y))": "x*y",
        "1/(x - y)": "x - y",
        "sin(x)**2.5 - 1": "x",
        "2": "2",
        "x/y + 1*z": "x/y + 1*z",
    }.items():
        individual = breeder.plant(
            to_operon(cf.parse(text, names=["x", "y", "z"]).tree, breeder.functions)
        )
        expected = cf.parse(essential, names=["x", "y", "z"]).tree
        assert to_tree(decoded(breeder, [individual]).tapes, 0) == expected
        if text != "2":
            assert peeled(cf.parse(text, names=["x", "y", "z"]).tree) == expected


def test_some_trees_of_a_batch():
    breeder = new_breeder()
    tapes = decoded(breeder, breeder.create(20)).tapes
    chosen, nodes = take(tapes, np.array([3, 11, 4]))
    assert [to_tree(chosen, i) for i in range(3)] == [to_tree(tapes, i) for i in (3, 11, 4)]
    np.testing.assert_array_equal(tapes.codes[nodes], chosen.codes)
    assert take(tapes, np.array([], dtype=np.int64))[0].n_trees == 0
