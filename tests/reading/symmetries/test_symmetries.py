import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExpressionError, FieldError
from closedform.reading.symmetries.affine import field_text, parse_field


def exact(text, names, n=700, seed=0, noise=0.0, centre=0.0, values=True):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2, 2, (n, len(names))) + centre
    formula = cf.parse(text, names=list(names))
    gradients = formula.gradient(points)
    if noise:
        sizes = np.linalg.norm(gradients, axis=1, keepdims=True)
        gradients = gradients + np.radians(noise) * sizes * rng.normal(size=gradients.shape)
    latents = formula(points) if values else None
    return cf.GradientField.from_arrays(points, gradients, latents=latents, names=list(names))


@pytest.mark.parametrize(
    ("text", "names", "translations", "dimension", "name"),
    [
        ("x**2 + y**2", "xy", 0, 1, "so(2)"),
        ("x**2 - y**2", "xy", 0, 1, "so(1,1)"),
        ("x*y", "xy", 0, 1, "scaling"),
        ("x + 2*y + 0*z", "xyz", 2, 2, "2 translations"),
        ("x**2 + y**2 + z**2", "xyz", 0, 3, "so(3)"),
        ("b**2 - 4*a*c", "abc", 0, 3, "sl(2)"),
        ("x*y*z", "xyz", 0, 2, "2 scalings"),
        ("t**2 - x**2 - y**2 - z**2", "txyz", 0, 6, "so(1,3)"),
        ("(a - c)**2 + (b - d)**2", "abcd", 2, 3, "se(2)"),
        ("(a - b)*(c - d)/((a - d)*(b - c))", "abcd", 1, 2, "scaling and translation"),
        ("sin(x) + y**3 + x*y", "xy", 0, 0, ""),
    ],
)
def test_algebras_of_exact_fields(text, names, translations, dimension, name):
    found = cf.symmetries(exact(text, names), rng=0)
    assert (found.n_translations, found.dimension, found.name) == (translations, dimension, name)
    assert all(one.broken.cause == "rounding" for one in found.generators)


def test_generators_are_sparse_and_plain():
    turned = cf.symmetries(exact("(x - 1)**2 + 2*(y + 1/2)**2", "xy"), rng=0)
    assert {str(each) for each in turned.generators[0].components} <= {
        "2*y + 1", "-x + 1", "-2*y - 1", "x - 1",
    }  # fmt: skip
    bodies = cf.symmetries(
        exact("(a - c)**2 + (b - d)**2", "abcd"), groups={"p": "ab", "q": "cd"}, rng=0
    )
    rotation = bodies.generators[-1]
    assert (rotation.kind, rotation.groups) == ("rotation", ("p", "q"))
    assert "[v1, v3] = -v2" in bodies.commutators or "[v1, v3] = v2" in bodies.commutators


def test_data_far_from_the_origin_and_in_other_units():
    points = np.random.default_rng(1).uniform(-1, 1, (600, 2)) * [1e3, 1e-3] + [5e3, 0.0]
    gradients = np.column_stack([2 * (points[:, 0] - 5e3) / 1e6, 2 * points[:, 1] * 1e6])
    found = cf.symmetries(cf.GradientField.from_arrays(points, gradients), rng=0)
    assert found.dimension == 1
    assert found.generators[0].broken.degrees < 1e-4


def test_fields_that_do_not_move_the_data_do_not_count():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 3))
    points[:, 2] = -points[:, 0] - points[:, 1]  # a plane
    field = cf.GradientField.from_arrays(points, 2 * points, names=["x", "y", "z"])
    found = cf.symmetries(field, rng=0)
    assert (found.dimension, found.n_translations) == (1, 0)
    sphere = rng.normal(size=(600, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    on_sphere = cf.GradientField.from_arrays(
        sphere, np.tile([0.0, 0.0, 1.0], (600, 1)), names=["x", "y", "z"],
        constraints=["x**2 + y**2 + z**2 = 1"], tangent="constraints",
    )  # fmt: skip
    found = cf.symmetries(on_sphere, rng=0)
    assert [one.kind for one in found.generators] == ["rotation"]


def test_noise_is_subtracted():
    found = cf.symmetries(exact("x**2 + y**2 + z", "xyz", n=2000, noise=3.0), rng=0)
    assert found.dimension == 3
    assert all(one.broken.cause == "noise" for one in found.generators)
    assert max(one.broken.degrees for one in found.generators) < 1.5


def test_a_broken_rotation_has_its_true_angle():
    names, text = ["x", "y"], "x**2 + y**2 + 0.02*x**4"
    field = exact(text, names, n=1500)
    found = cf.symmetries(field, stated=["x*d_y - y*d_x"], rng=0)
    assert found.dimension == 0
    (rotation,) = found.stated
    points = np.random.default_rng(9).uniform(-2, 2, (20000, 2))
    gradients = cf.parse(text, names=names).gradient(points) * field.scale
    vectors = np.column_stack([-points[:, 1], points[:, 0]]) / field.scale
    lengths = np.linalg.norm(gradients, axis=1)
    sines = np.einsum("nd,nd->n", gradients, vectors) / lengths / np.linalg.norm(vectors, axis=1)
    weights = np.minimum(lengths / np.median(lengths), 1) ** 2
    true = np.degrees(np.sqrt(np.average(sines**2, weights=weights)))
    assert rotation.broken.cause == "term"
    assert rotation.broken.degrees == pytest.approx(true, rel=0.2)
    assert rotation.broken.low < true < rotation.broken.high
    assert rotation.broken.there > rotation.broken.degrees
    assert found.nearest is not None
    assert found.nearest.broken.degrees <= rotation.broken.degrees


def test_a_rough_error_is_not_a_term():
    """A network's error is small waves; the same size of a smooth term breaks the symmetry."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (1500, 2))
    waves = 0.05 * np.column_stack([np.sin(9 * points[:, 1]), np.cos(8 * points[:, 0])])
    values = (points**2).sum(axis=1)
    for added, dimension in ((waves, 1), (0.08 * points**3 * [1, 0], 0)):
        field = cf.GradientField.from_arrays(points, 2 * points + added, latents=values)
        assert cf.symmetries(field, rng=0).dimension == dimension
    without = cf.GradientField.from_arrays(points, 2 * points + waves)
    found = cf.symmetries(without, rng=0)
    assert found.dimension == 0
    assert "no values" in found.notes[0]


def test_directions_that_fill_the_space_see_everything():
    points = np.random.default_rng(0).normal(size=(200, 2))
    jacobians = np.tile(np.eye(2), (200, 1, 1))
    found = cf.symmetries(cf.GradientField.from_arrays(points, jacobians), rng=0)
    assert found.dimension == 0
    assert "fill" in found.notes[0]


def test_summary_and_text():
    found = cf.symmetries(exact("x**2 + y**2", "xy"), stated=["d_x"], rng=0)
    told = found.summary()
    assert (told["dimension"], told["algebra"]) == (1, "so(2)")
    assert told["stated"][0]["broken"]["degrees"] > 30
    assert "so(2)" in str(found)
    assert "<svg" in found._repr_html_()
    assert found.plot_flow().get_xlabel() == "x"


def test_fields_as_text_go_there_and_back():
    matrix = np.array([[0.0, -1.0, 0.0], [1.0, 0.5, -2.0]])
    assert (parse_field(field_text(matrix, ["x", "y"]), ["x", "y"]) == matrix).all()
    for text in ("x*y*d_x", "x", "d_x*d_y", "d_x + 1"):
        with pytest.raises(ExpressionError, match="not an affine"):
            parse_field(text, ["x", "y"])


def test_bad_calls():
    field = exact("x*y", "xy", n=50)
    with pytest.raises(FieldError, match="not an input"):
        cf.symmetries(field, groups={"a": ["x", "q"]})
    many = cf.GradientField.from_arrays(np.eye(60)[:, :41] + 1.0, np.ones((60, 41)), tangent="none")
    with pytest.raises(FieldError, match="41 inputs"):
        cf.symmetries(many)


def test_an_answer_tells_the_symmetries_of_its_field(tmp_path):
    field = exact("x**2 + y**2", "xy", n=300)
    answer = cf.interpret_field(field, budget=cf.Budget(evaluations=300), rng=0, progress=False)
    assert answer.symmetries(rng=0).name == "so(2)"
    answer.save(tmp_path / "a.json")
    loaded = cf.load_interpretation(tmp_path / "a.json")
    with pytest.raises(cf.ClosedformError, match=r"symmetries\(field="):
        loaded.symmetries()
    assert loaded.symmetries(field=field, rng=0).dimension == 1
