"""The engine `structure`: what it finds, what it says about structure, and where it says
nothing.
"""

import time

import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Silent
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import wider_forms
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.searching.structure_search.structure_engine import StructureSearch, why_not
from closedform.searching.structure_search.structure_run import StructureRun
from closedform.testing import KnownField


def field_of(truth, names, low=1.0, high=3.0, n_points=400, noise=0.0):
    return KnownField(truth, tuple(names), low, high).field(
        np.random.default_rng(0), n_points, noise
    )


def search(field, space=None, **limits):
    limits = limits or {"seconds": 20.0}
    # A busy machine must not decide what is found.
    with processor_seconds():
        return StructureSearch().search(
            field, space or SearchSpace(), Budget(**limits), np.random.default_rng(0), Silent()
        )


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        ("n*p**2*e/(k*t)", "npekt"),
        ("m/sqrt(1 - v**2/c**2/16)", "mvc"),
        ("p*cos(a)/(e*r**2)", "paer"),
        pytest.param("n*k*t*log(v/u)", "nktvu", marks=pytest.mark.slow),
        pytest.param("q*(e + b*v*sin(a))", "qebva", marks=pytest.mark.slow),
        pytest.param("(x - u*t)/sqrt(1 - u**2/c**2/16)", "xutc", marks=pytest.mark.slow),
        ("(m*r + w*s)/(m + w)", "mrws"),
        ("h*w**3/(c**2*(exp(h*w/(k*t)) - 1))", "hwckt"),
        pytest.param("i + j + 2*sqrt(i*j)*cos(d)", "ijd", marks=pytest.mark.slow),
        pytest.param("(p + 0.5/v**2)*(v - 0.3)/t", "pvt", marks=pytest.mark.slow),
        pytest.param("n*tanh(m*b/t)*m", "nmbt", marks=pytest.mark.slow),
        pytest.param("x/(y*(1 + z**4))", "xyz", marks=pytest.mark.slow),
        ("(d + 2*e)*exp(-a) + 3*b*c*d", "abcde"),
        ("r/sqrt(1 - v**2/c**2/16)", "rvc"),
    ],
)
def test_formulas_of_many_inputs_are_found(truth, names):
    result = search(field_of(truth, names))
    assert result.front.best is not None
    fresh = KnownField(truth, tuple(names), 1.0, 3.0).field(np.random.default_rng(9))
    assert field_misalignment(result.front.best.expression, fresh).mean() < 1e-9


def test_a_product_of_many_inputs_takes_a_moment():
    field = field_of("a*b*c*d*e*f", "abcdef")
    search(field)
    began = time.process_time()
    result = search(field)
    assert time.process_time() - began < 1.0
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12


@pytest.mark.parametrize(
    "truth",
    [
        "x*(y**2 + z**2)",
        "(x**2 + x*y)/(10 + 10*x + x**2*y)",
        *[pytest.param(text, marks=pytest.mark.slow) for text in ("x*y**2/z", "x*exp(-y/z)")],
    ],
)
def test_noise_of_a_degree_does_not_hide_structure(truth):
    # Each is found within a second.
    result = search(field_of(truth, "xyz", n_points=700, noise=np.deg2rad(1.0)), seconds=3.0)
    clean = field_of(truth, "xyz")
    best = min(
        float(field_misalignment(candidate.expression, clean).mean()) for candidate in result.front
    )
    assert best < 1e-5


def test_the_decomposition_names_combinations_with_intervals():
    result = search(field_of("a*(h + m*n/e)", "ahmne"))
    assert result.structure is not None
    (whole,) = result.structure.combinations
    assert set(whole.inputs) == set("ahmne")
    assert 0 <= whole.low <= whole.misalignment <= whole.high < 1e-12
    inner = {part.inputs for part in whole.parts} | {
        p.inputs for part in whole.parts for p in part.parts
    }
    assert ("m", "n", "e") in inner or ("h", "m", "n", "e") in inner
    assert result.structure.text.startswith("The concept is a function of")


def test_inputs_that_do_not_matter_are_left_out_with_noise():
    field = field_of("x*y/z", "xyzuvw", n_points=700, noise=0.02)
    result = search(field, seconds=5.0)
    assert result.structure is not None
    assert set(result.structure.unused) == set("uvw")
    assert "does not depend on u, v and w" in result.structure.text


def test_units_of_any_size_do_not_matter():
    units = np.array([1e-11, 1e8, 1e-3, 1e5])
    points = np.random.default_rng(0).uniform(1, 3, (500, 4))
    slopes = cf.parse("a*b**0.8*d**0.4/c**2", names=list("abcd")).gradient(points)
    field = GradientField.from_arrays(
        points * units, slopes / units, names=list("abcd"), tangent="none"
    )
    result = search(field)
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-9


def test_structure_is_read_at_the_scale_of_a_smooth_bias():
    """A network's error is smooth: its level was once taken for rounding, and nothing merged."""
    points = np.random.default_rng(0).uniform(1, 3, (700, 3))
    truth = cf.parse("z*(exp(x/2) - 1)/y**2", names=list("xyz"))
    slopes = truth.gradient(points)
    sizes = np.linalg.norm(slopes, axis=1, keepdims=True)
    bias = np.sin(2 * points[:, [1, 2, 0]] + [0.3, 1.1, 2.0]) * 0.01 * sizes
    field = GradientField.from_arrays(points, slopes + bias, names=list("xyz"), tangent="none")
    result = search(field, seconds=5.0)
    clean = GradientField.from_arrays(points, slopes, names=list("xyz"), tangent="none")
    assert min(float(field_misalignment(c.expression, clean).mean()) for c in result.front) < 1e-4
    assert result.structure is not None


def test_a_power_law_is_found_from_logarithms_of_its_inputs():
    field = field_of("a + 0.8*b - 2*c + 0.4*d", "abcd", noise=0.03)
    clean = field_of("a + 0.8*b - 2*c + 0.4*d", "abcd")
    front = search(field, seconds=2.0).front
    assert min(float(field_misalignment(c.expression, clean).mean()) for c in front) < 1e-4


def test_a_formula_that_changes_sign_has_no_pole():
    """d/(A*(T1 - T2)) has the directions of A*(T1 - T2)/d, but is another concept where T1 = T2."""
    names = ["A", "T1", "T2", "d"]
    result = search(field_of("A*(T1 - T2)/d", names))
    assert result.front.best is not None
    assert (
        cf.same_concept(
            str(result.front.best.expression), "A*(T1 - T2)/d", names, domain=(1, 3)
        ).status
        != "different"
    )


def test_false_structure_costs_time_and_no_answer(monkeypatch):
    """A merge that is none, believed: the field is found by the other engines of auto all the
    same.
    """
    from closedform.searching.portfolio import Portfolio
    from closedform.searching.structure_search.quantities import make_quantity

    def wrong(self):
        tree = cf.parse("x + y", names=list(self.field.names)).tree
        new = make_quantity(self.data, tree)
        assert new is not None
        return [self.start.with_quantity(self.data, new, (0, 1))]

    monkeypatch.setattr(StructureRun, "_divide", lambda self, state: self.beam.add(self.start))
    monkeypatch.setattr(StructureRun, "_left", wrong)
    monkeypatch.setattr(StructureRun, "_read_parts", lambda self, state: None)
    field = field_of("x*y + z**2", "xyz")
    with processor_seconds():
        result = Portfolio().search(
            field, SearchSpace(), Budget(seconds=4.0), np.random.default_rng(0), Silent()
        )
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-10


def test_the_structure_of_surfaces_and_of_several_latents_is_not_looked_for():
    points = np.random.default_rng(0).uniform(1, 2, (200, 3))
    points[:, 2] = points[:, 0] + points[:, 1]
    assert "tangent space" in str(
        why_not(GradientField.from_arrays(points, points, tangent="linear"))
    )
    several = KnownField("x*y;x + z", ("x", "y", "z"), 1.0, 2.0).field(np.random.default_rng(0))
    assert "several latents" in str(why_not(several))
    result = search(several)
    assert len(result.front) == 0
    assert "several latents" in result.statistics["remark"]
    few = KnownField("x*y", ("x", "y"), 1.0, 2.0).field(np.random.default_rng(0), n_points=20)
    assert "fewer than" in str(why_not(few))


def test_the_users_operators_are_kept():
    space = SearchSpace(operators=("add", "sub", "mul", "div"))
    result = search(field_of("x*sin(y)", "xy"), space, seconds=1.5)
    assert all(space.allows(candidate.expression.tree, ("x", "y")) for candidate in result.front)


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e20, 1e40])
def test_forms_of_huge_and_tiny_quantities_overflow_nowhere(scale):
    """A power of a large quantity once ended the search with an OverflowError."""
    points = np.random.default_rng(0).uniform(1, 2, (100, 2)) * [scale, 1]
    field = GradientField.from_arrays(
        points, np.ones((100, 2)) / [scale, 1], names=["x", "y"], tangent="none"
    )
    data = Data.of(field, 100, np.random.default_rng(0))
    for quantity in first_state(data).quantities:
        forms = wider_forms(quantity, SearchSpace())
        assert len(forms.forms) > 20
        assert np.isfinite(forms.slopes).all()
