"""Formulas of sums over inputs that are alike."""

import numpy as np
import pytest

import closedform as cf
from closedform.errors import FieldError
from closedform.expressions.sites import FormulaOfSums
from closedform.reading.alike.alike_reading import BY_VALUES
from closedform.reading.alike.site_spans import find_span
from closedform.reading.alike.sites import Sites

SITES, POINTS = 24, 400
GROUP = cf.Group(range(SITES), shape=(SITES,))
LEVEL = np.random.default_rng(1)
HERE = LEVEL.normal(size=(POINTS, 1)) + LEVEL.uniform(0.3, 1.5, (POINTS, 1)) * LEVEL.normal(
    size=(POINTS, SITES)
)
S1, S2 = HERE.sum(axis=1, keepdims=True), (HERE**2).sum(axis=1, keepdims=True)
AROUND = np.roll(HERE, 1, axis=1) + np.roll(HERE, -1, axis=1)


def units(gradients):
    return gradients / np.linalg.norm(gradients, axis=1, keepdims=True)


def noisy(gradients, degrees):
    noise = units(np.random.default_rng(2).normal(size=gradients.shape))
    return units(units(gradients) + np.tan(np.radians(degrees)) * noise)


def field_of(gradients, values=None):
    return cf.GradientField.from_arrays(HERE, gradients, latents=values, tangent="none")


def read(field, **options):
    return cf.interpret_field(
        field, groups={"s": GROUP}, rng=0, budget=cf.Budget(evaluations=3000), progress=False,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("degrees", [0.0, 1.0])
@pytest.mark.parametrize(
    ("gradients", "wanted"),
    [
        (2 * HERE, {"x**2"}),
        (np.cos(1.3 * HERE), {"sin(1.3*x)"}),
        (2 * HERE * S1 + S2, {"x", "x**2"}),
        (AROUND, {"x*y"}),
        (AROUND + HERE**3, {"x*y", "x**4"}),
    ],
)
def test_sums_are_found(gradients, wanted, degrees):
    span = find_span(Sites("s", GROUP, HERE, noisy(gradients, degrees)))
    assert {term.written() for term in span.used} == wanted
    assert len(span.terms) - span.needed == 1


def test_a_sum_is_read_saved_and_evaluated(tmp_path):
    answer = read(field_of(2 * HERE, S2[:, 0]), hypothesis="sum(s[i]**2)")
    assert str(answer.concept) == "sum(s[i]**2)"
    assert answer.verdict.status == "verified"
    assert answer.hypothesis is not None
    assert answer.hypothesis.status == "proved"
    assert isinstance(answer.concept, FormulaOfSums)
    assert answer.concept(HERE) == pytest.approx(S2[:, 0])
    answer.save(tmp_path / "answer.json")
    loaded = cf.load_interpretation(tmp_path / "answer.json")
    assert loaded.concept == answer.concept
    assert loaded.names == answer.names
    assert "sum(s[i]**2)" in str(loaded)
    answer.report(tmp_path / "answer.html")


def test_stated_sums_are_judged():
    field = field_of(2 * HERE, np.tanh(S2[:, 0] / 50))
    right, wrong = (
        cf.parse(text, field.names, groups={"s": GROUP}) for text in ("sum(s[i]**2)", "sum(s[i])")
    )
    answer = cf.verify(right, field, rivals=[wrong], rng=0)
    assert (str(answer.concept), answer.verdict.status) == ("sum(s[i]**2)", "verified")
    assert answer.verdict.checks[-1].name == "sums"
    assert cf.verify(wrong, field, rivals=None, rng=0).verdict.status == "none"


def test_values_tell_sums_apart_that_gradients_do_not():
    """Networks of sums over positive inputs were read as exp(-0.49*s) for sqrt(s), and as s for
    log(1 + s**2): their gradients are wrong by degrees, and their values by a thousandth.
    """
    sites = np.exp(0.5 * HERE)
    gradients = noisy(2 * sites / (1 + sites**2), 8)
    values = np.tanh((np.log(1 + sites**2).sum(axis=1) - 25) / 20)
    span = find_span(Sites("s", GROUP, sites, gradients, values))
    assert [term.written() for term in span.used] == ["log(1 + x**2)"]


def test_what_is_not_a_sum_is_not_called_one():
    rng = np.random.default_rng(3)
    for gradients in (
        rng.normal(size=SITES) + 0 * HERE,
        np.where(np.arange(SITES) < SITES // 2, 2 * HERE, -np.ones_like(HERE)),
    ):
        answer = read(field_of(gradients))
        assert answer.verdict.status == "none"
        assert answer.concept is None
        assert answer.field_quality.finding("broken-symmetry") is not None


@pytest.mark.parametrize("are_two_kinds", [True, False])
def test_two_kinds_of_sites_are_told_from_sites_that_differ(are_two_kinds):
    slopes, values = np.sign(HERE), np.abs(HERE)
    if are_two_kinds:
        slopes[:, 16:], values[:, 16:] = (f[:, 16:] for f in (np.tanh(HERE), np.log(np.cosh(HERE))))
    else:
        factors = 1 + 0.1 * np.random.default_rng(3).normal(size=SITES)
        slopes, values = slopes * factors, values * factors
    names = [f"s[{place}]" for place in range(SITES)]
    field = cf.GradientField.from_arrays(
        HERE, slopes, latents=values.sum(axis=1), names=names, tangent="none"
    )
    formula = cf.parse("sum(abs(s[i]))", names, groups={"s": GROUP})
    answer = cf.verify(formula, field, rivals=None, rng=0)
    told = answer.field_quality.finding("two-kinds")
    assert (told is not None) == are_two_kinds
    if told is not None:
        assert told.data["other"] == tuple(names[16:])
        assert [each.name for each in answer.verdict.checks if each.passed is False] == ["sums"]
        assert answer.verdict.status != "verified"


def test_a_network_is_read_and_its_neuron_replaced():
    import torch

    class Energy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(1, 1)
            self.outer = torch.nn.Linear(1, 1)

        def forward(self, x):
            return self.outer(self.inner((x**2).sum(dim=1, keepdim=True) / 10))

    torch.manual_seed(0)
    network = Energy()
    answer = cf.interpret(
        network, HERE.astype(np.float32), "inner:0", groups={"s": range(SITES)}, rng=0,
        budget=cf.Budget(evaluations=3000), progress=False,
    )  # fmt: skip
    assert str(answer.concept) == "sum(s[i]**2)"
    assert answer.faithfulness is not None
    copy = answer.replace_in(network, HERE.astype(np.float32))
    assert copy.cost.latent_r2 > 0.9999


def test_what_is_explained_is_of_the_networks_own_values():
    rng = np.random.default_rng(0)
    factors = 1 + 0.3 * rng.normal(size=SITES)
    here = np.where(rng.uniform(size=(600, SITES)) < rng.uniform(0, 1, (600, 1)), 1.0, -1.0)

    def network(s):
        return (s @ factors) ** 2

    field = cf.extract_field(network, here, 0, groups={"s": GROUP}, rng=0)
    formula = cf.parse("sum(s[i])**2", field.names, groups={"s": GROUP})
    answer = cf.verify(formula, field, rivals=None, rng=0)
    assert answer.phi is not None
    explained = np.corrcoef(network(here), here.sum(axis=1) ** 2)[0, 1] ** 2
    assert explained < 0.99
    assert answer.phi.r2 == pytest.approx(explained, abs=0.2 * (1 - explained))
    assert answer.provenance.tolerances["reading.alike.BY_VALUES"] == BY_VALUES


def test_few_sums_of_many_inputs_are_not_called_many():
    here = np.random.default_rng(0).normal(size=(300, 70))
    names = [f"s[{place}]" for place in range(70)]
    field = cf.GradientField.from_arrays(here, 2 * here, names=names, tangent="none")
    told = {finding.code for finding in field.quality.findings}
    assert {"many-inputs", "too-few-points"} <= told
    formula = cf.parse("sum(s[i]**2)", names, groups={"s": range(70)})
    answer = cf.verify(formula, field, rivals=None, rng=0)
    left = {finding.code for finding in answer.field_quality.findings}
    assert left & told == told - {"many-inputs", "too-few-points"}


def test_single_inputs_stand_beside_the_sums():
    rng = np.random.default_rng(4)
    heat = rng.uniform(1, 3, (POINTS, 1))
    every = np.concatenate([heat, HERE], axis=1)
    gradients = np.concatenate([-S2 / heat**2, 2 * HERE / heat], axis=1)
    names = ["T", *(f"v{place}" for place in range(SITES))]
    field = cf.GradientField.from_arrays(every, gradients, names=names, tangent="none")
    answer = cf.interpret_field(
        field, groups={"v": names[1:]}, rng=0, budget=cf.Budget(evaluations=3000), progress=False
    )
    assert str(answer.concept) in ("sum(v[i]**2)/T", "T/sum(v[i]**2)")


def test_several_latents_are_refused():
    both = np.stack([2 * HERE, np.ones_like(HERE)], axis=1)
    field = cf.GradientField.from_arrays(HERE, both, tangent="none")
    with pytest.raises(FieldError, match="one neuron"):
        read(field)


def test_inputs_that_look_alike_are_proposed():
    field = field_of(2 * HERE + np.cos(HERE) * S1)
    answer = cf.interpret_field(
        field, engine="terms", rng=0, budget=cf.Budget(evaluations=200), progress=False
    )
    assert answer.verdict.status != "verified"
    assert "groups={'x': range(24)}" in answer.next_steps[0]
