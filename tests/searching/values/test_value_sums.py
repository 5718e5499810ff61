import re

import numpy as np
import pytest
from scipy.linalg import eigh

import closedform as cf
from closedform.basics.progress import Silent
from closedform.expressions.legality import Legality
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import Budget
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import build_library
from closedform.searching.values.value_sums import ValueLibrary, ValueSums

NAMES = ["x", "y", "z"]


def rough_field(text: str, degrees: float, units: dict[str, str] | None = None) -> cf.GradientField:
    """Exact values of a saturating latent, and directions that are far off."""
    rng = np.random.default_rng(5)
    truth = parse(text, names=NAMES)
    points = rng.uniform(0.8, 2.5, (800, 3))
    values = truth(points)
    latent = np.tanh((values - values.mean()) / values.std())
    gradients = truth.gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += np.radians(degrees) * rng.normal(size=gradients.shape)
    # The slope of tanh: where it saturates, values say little.
    gradients *= (1 - latent**2)[:, None]
    return cf.GradientField.from_arrays(
        points, gradients, latents=latent, names=NAMES, units=units, tangent="none"
    )


def found_in(field: cf.GradientField, space: SearchSpace | None = None) -> list[str]:
    options = ValueSums(n_terms=400)
    result = options.search(
        field,
        space or SearchSpace(),
        Budget(evaluations=10_000),
        np.random.default_rng(0),
        Silent(),
    )
    return [str(candidate.expression) for candidate in result.front.all]


def test_a_sum_is_seen_by_values_where_directions_are_twelve_degrees_off() -> None:
    found = found_in(rough_field("z**2 - 0.7*x**2/y", 12))
    numbers = [re.fullmatch(r"z\*\*2 - (0\.\d+)\*\(x\*\*2/y\)", text) for text in found]
    fitted = [float(match[1]) for match in numbers if match]
    assert fitted
    assert fitted == pytest.approx([0.7] * len(fitted), abs=0.01)


def test_a_product_is_a_sum_of_logarithms_to_values() -> None:
    field = rough_field("x**2*sqrt(y)", 12)
    formulas = [parse(text, names=NAMES) for text in found_in(field)]
    statuses = [cf.same_concept(formula, "x**2*sqrt(y)", NAMES).status for formula in formulas]
    assert "proved" in statuses


def test_one_more_term_leaves_what_the_whole_eigenproblem_says() -> None:
    field = rough_field("z**2 - 0.7*x**2/y", 1)
    terms = build_library(SearchSpace(), NAMES, field.points, field.scale, np.ones(3), 40)
    library = ValueLibrary.of(terms, field, SearchSpace(), 12)
    assert library is not None
    for support in ([3], [0, 4], [1, 2, 7]):
        grown, left = library._extended(np.array(support))
        assert len(grown)
        for places, value in zip(grown.tolist(), left.tolist(), strict=True):
            block = np.ix_(places, places)
            least = eigh(library.lost[block], library.whole[block], eigvals_only=True)[0]
            assert value == pytest.approx(least, rel=1e-4, abs=1e-9)


def test_units_forbid_sums_of_different_ones() -> None:
    field = rough_field("x**2 + y**2 + z", 5, {"x": "m", "y": "m", "z": "s"})
    assert field.units is not None
    space = SearchSpace(legality=Legality(field.units, may_carry=False))
    assert not any("+ z" in text for text in found_in(field, space))


def test_values_are_asked_only_where_they_are_known() -> None:
    field = rough_field("x*y + z", 3)
    plain = cf.GradientField.from_arrays(field.points, field.directions[:, :, 0], names=NAMES)
    for one, is_asked in ((field, True), (plain, False)):
        result = search(one, budget=cf.Budget(evaluations=300), rng=0, progress=False)
        engines = [step["engine"] for step in result.statistics["steps"]]
        assert ("values" in engines) == is_asked


def test_the_data_may_lie_on_a_surface() -> None:
    x, y, z = np.random.default_rng(0).uniform(0.5, 2, (3, 600))
    w = x + y + z
    points = np.column_stack([x, y, z, w])
    gradients = np.column_stack([2 * x, 1 / y, np.zeros(600), w / 2])
    latent = x**2 + np.log(y) + w**2 / 4
    names = ["x", "y", "z", "w"]
    field = cf.GradientField.from_arrays(points, gradients, latents=latent, names=names)
    assert field.frames.shape[1] == 3
    formulas = [parse(text, names=names) for text in found_in(field)]
    assert min(field_misalignment(formula, field).mean() for formula in formulas) < 1e-9
