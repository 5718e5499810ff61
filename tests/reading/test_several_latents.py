import numpy as np
import pytest

import closedform as cf
from closedform.reading.settings import Settings
from closedform.reading.several_latents import LatentsReader
from closedform.searching.budget import Budget
from closedform.searching.front import Candidate
from closedform.searching.space import SearchSpace

NAMES = ["x", "y", "p", "q"]
SMALL = SearchSpace(operators=["add", "sub", "mul", "square"], max_degree=2)


def mixed_field(texts, names, points, seed=0, extra=0):
    """Latents that are distorted mixtures of known functions, and their exact Jacobians."""
    rng = np.random.default_rng(seed)
    truths = [cf.parse(text, names=names) for text in texts]
    values = np.stack([truth(points) for truth in truths], axis=1)
    gradients = np.stack([truth.gradient(points) for truth in truths], axis=1)
    mixture = np.linalg.qr(rng.normal(size=(len(texts) + extra, len(texts))))[0]
    latents = np.tanh(0.3 * values @ mixture.T)
    jacobians = 0.3 * (1 - latents**2)[:, :, None] * np.einsum("ij,njd->nid", mixture, gradients)
    return cf.GradientField.from_arrays(points, jacobians, latents=latents, names=names)


def same_functions(found, texts, points):
    """Whether found and stated functions have gradients of one span, of the rank of the stated
    ones.
    """
    truths = [cf.parse(text, names=list(found[0].names)) for text in texts]
    gradients = np.stack([e.gradient(points) for e in (*found, *truths)], axis=2)
    sizes = np.linalg.svd(
        gradients / np.linalg.norm(gradients, axis=1, keepdims=True), compute_uv=False
    )
    return len(found) == len(texts) and float(np.median(sizes[:, len(texts)])) < 1e-6


@pytest.fixture(scope="module")
def electromagnetic():
    names = ["E1", "E2", "E3", "B1", "B2", "B3"]
    points = np.random.default_rng(0).uniform(-1, 1, (500, 6))
    texts = ["E1*B1 + E2*B2 + E3*B3", "E1**2 + E2**2 + E3**2 - B1**2 - B2**2 - B3**2"]
    field = mixed_field(texts, names, points, extra=1)
    return (
        texts,
        field,
        cf.interpret_field(
            field, engine="terms", space=SMALL, budget=Budget(evaluations=3000), rng=0
        ),
    )


def test_both_invariants_are_read_from_three_mixed_latents(electromagnetic):
    texts, field, found = electromagnetic
    assert field.rank == 2
    assert same_functions(found.concepts, texts, field.points)
    assert found.verdict.status == "verified"
    assert [part.verdict.status for part in found.parts] == ["verified", "verified"]
    assert found.concept == found.concepts[0] == found.parts[0].concept
    assert found.together is not None
    assert (found.front, found.alignment, found.entry) == ((), None, None)
    assert all(part.front and part.alignment for part in found.parts)
    assert found.together.sentence == "rank 2, read 2"
    assert max(found.together.outside, found.together.missing) < 1e-10
    assert found.together.explained is not None
    assert found.together.explained > 0.98
    assert len(found.together.r2) == 3


def test_each_is_the_textbook_form(electromagnetic):
    texts, field, found = electromagnetic
    for text in texts:
        assert any(
            cf.same_concept(str(concept), text, list(field.names)) for concept in found.concepts
        )


def test_saved_and_loaded_the_parts_are_equal(electromagnetic, tmp_path):
    found = electromagnetic[2]
    found.save(tmp_path / "r.json")
    assert cf.load_interpretation(tmp_path / "r.json") == found


def test_the_simplest_generators_are_chosen():
    # Each latent is a mixture of the sum and the product of two energies: the energies themselves
    # are simpler.
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (400, 4))
    texts = ["x**2 + p**2 + y**2 + q**2", "(x**2 + p**2)*(y**2 + q**2)"]
    field = mixed_field(texts, NAMES, points)
    space = SearchSpace(operators=["add", "sub", "mul", "square"], max_degree=4)
    found = cf.interpret_field(
        field, engine="terms", space=space, budget=Budget(evaluations=4000), rng=0
    )
    assert sorted(str(concept) for concept in found.concepts) == ["p**2 + x**2", "q**2 + y**2"]


def test_no_concept_is_invented_beside_the_one_that_is_there():
    # The second latent is smooth and no polynomial of degree 2: it must not be read as one.
    points = np.random.default_rng(2).uniform(-1.5, 1.5, (500, 4))
    first = cf.parse("x*y + p*q", names=NAMES)
    rough = cf.parse("sin(3*x + y)*exp(p*q) + cos(4*p - x*q)", names=NAMES)
    jacobians = np.stack([first.gradient(points), rough.gradient(points)], axis=1)
    field = cf.GradientField.from_arrays(points, jacobians, names=NAMES, tangent="none")
    found = cf.interpret_field(
        field, engine="terms", space=SMALL, budget=Budget(evaluations=2500), rng=0
    )
    assert field.rank == 2
    assert [str(concept) for concept in found.concepts] == ["p*q + x*y"]
    assert found.together is not None
    assert found.together.sentence == "rank 2, read 1"
    assert found.verdict.status == "approximate"
    assert found.together.missing > 0.3


def test_nothing_is_read_where_there_is_nothing():
    rng = np.random.default_rng(3)
    points = rng.uniform(-1, 1, (300, 4))
    field = cf.GradientField.from_arrays(
        points, rng.normal(size=(300, 2, 4)), names=NAMES, tangent="none"
    )
    found = cf.interpret_field(
        field, engine="terms", space=SMALL, budget=Budget(evaluations=800), rng=0
    )
    assert found.verdict.status == "none"
    assert found.concepts == ()
    assert found.concept is not None
    assert found.together is not None
    assert found.together.sentence == "rank 2, read 0"


def test_of_a_pool_the_simplest_independent_formulas_are_taken():
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (300, 4))
    pool = [
        "x**2 + p**2",
        "(x**2 + p**2)**2",
        "x**2 + p**2 + y**2 + q**2",
        "(x**2 + p**2)*(y**2 + q**2)",
        "y**2 + q**2",
        "x*y",
    ]
    field = mixed_field(pool[2:4], NAMES, points)
    settings = Settings.checked("terms", SMALL, "evidence", None, None, False)
    reader = LatentsReader(
        field, settings, np.random.default_rng(0), np.arange(200), np.arange(200, 300)
    )
    candidates = [Candidate(cf.parse(text, names=NAMES), 1.0, 1, "") for text in pool]
    chosen = reader.simplest_generators(candidates, 2)
    assert sorted(str(contender.expression) for contender in chosen) == [
        "p**2 + x**2",
        "q**2 + y**2",
    ]
