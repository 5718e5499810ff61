import numpy as np
import pytest

import closedform as cf
from closedform.sweeping.compare import compare_one
from closedform.sweeping.family import NeuronReading, common_form, fit_form, group

NAMES = ["n", "a"]
K = np.geomspace(0.01, 1.0, 15)


def field_of(gradients, points, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    noisy = gradients / lengths + noise * rng.normal(size=gradients.shape)
    return cf.GradientField.from_arrays(points, noisy, names=NAMES)


@pytest.fixture
def points():
    return np.random.default_rng(0).uniform(0.5, 1.5, (400, 2))


def reading(points, formula, index=0.0, label="output:0", noise=1e-4, seed=0):
    concept = None if formula is None else cf.parse(formula, names=NAMES)
    gradients = cf.parse(formula or "n*a", names=NAMES).gradient(points)
    return NeuronReading(label, index, field_of(gradients, points, noise, seed), concept, noise**2)


def power_spectrum(points):
    """a + n*log(k/0.05), each read in a gauge of its own, and without n at the pivot."""
    for place, k in enumerate(K):
        slope = float(np.log(k / 0.05))
        text = f"n + {1 / slope!r}*a" if abs(slope) > 1 else f"a + {slope!r}*n"
        yield reading(points, "a" if k == K[5] else text, k, f"output:{place}")


def test_one_form_over_many_outputs_with_its_constant_as_a_formula(points):
    K[5] = 0.05
    families = group(list(power_spectrum(points)))
    assert len(families) == 1
    assert families.others == ()
    (family,) = families
    assert family.constants == ("n",)
    values = family.table()["n"].to_numpy()
    assert np.allclose(values, np.log(K / 0.05), atol=1e-3)
    curve = family.curves()["n"]
    assert curve is not None
    # All members share one draw of noise, which the errors cannot know.
    assert curve.confidence > 0.5
    assert curve.numbers[0] == pytest.approx(0.05, abs=1e-4)
    assert "log(k/0.0" in str(curve.concept)


def test_other_forms_make_families_of_their_own(points):
    members = [reading(points, f"n**2 + {c}*a", c, f"output:{i}") for i, c in enumerate((1.3, 1.7))]
    members += [reading(points, f"n + {c}*a**3", c, f"output:{i + 9}") for i, c in enumerate(K)]
    members.append(reading(points, None, 0.0, "output:99"))
    families = group(members)
    assert sorted(len(family.labels) for family in families) == [2, len(K)]
    assert families.others == ("output:99",)


def test_a_longer_formula_that_gains_nothing_that_matters_joins(points):
    members = list(power_spectrum(points))[:5]
    fitted = members[0]
    longer = cf.parse(f"{fitted.concept} + 0.00001*n*a", names=NAMES)
    members[0] = NeuronReading(fitted.label, fitted.index, fitted.field, longer, 1e-9)
    assert [len(family.labels) for family in group(members)] == [5]


def test_errors_cover_the_truth(points):
    inside = 0
    for seed in range(20):
        field = reading(points, "a + 1.37*n", noise=0.02, seed=seed).field
        form = common_form([cf.parse("a + 1.37*n", names=NAMES)], field)
        fit = fit_form(form, field)
        truth = 1.37 if form.constants == ("n",) else 1 / 1.37
        inside += abs(fit.values[0] - truth) < 3 * fit.errors[0]
    assert inside >= 18


@pytest.mark.parametrize(
    ("second", "status"),
    [("a + 1.37*n", "kept"), ("a + 1.44*n", "moved"), ("a + 1.37*n**3", "other"), (None, "lost")],
)
def test_what_became_of_a_neuron(points, second, status):
    first = reading(points, "a + 1.37*n", noise=0.005)
    later = reading(points, second, noise=0.005, seed=1)
    change = compare_one(first, later)
    assert change.status == status
    if status == "moved":
        assert abs(change.shifts[0].errors) > 4
