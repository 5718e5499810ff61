"""Formulas looked up in an index: the same concept, other constants, and near ones."""

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.sweeping.atlas.concept_index import ConceptIndex, entry_of
from closedform.sweeping.atlas.concept_key import concept_key, input_order, spelled, without_outer
from closedform.sweeping.atlas.finding import find
from closedform.sweeping.atlas.probe_points import profiles

FORMULAS = (
    "2*g*h + v**2", "x1*y1 + x2*y2", "A*exp(-2*tau)", "x - y", "x*y", "x/y", "x + 3*y",
    "m/sqrt(1 - v**2/c**2)", "z*min(x, 2*y)",
)  # fmt: skip


@pytest.fixture(scope="module")
def index() -> ConceptIndex:
    made = ConceptIndex()
    made.add(entry_of(text).concept for text in FORMULAS)
    return made


def kinds(index: ConceptIndex, formula: str, number: int) -> list[str]:
    return [match.kind for match in find(index, formula) if match.number == number]


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("exp(a**2/2 + b*c)", 0),
        ("log(a*c + b*d)", 1),
        ("log(p) - 2*q", 2),
        ("1/(p - q)", 3),
        ("log(b - a)", 3),
        ("sqrt(1 + 3*a/b)", 5),
        ("tanh(40*(b + 3*a) - 7)", 6),
        ("c*m/sqrt(c**2 - v**2)", 7),
        ("exp(-c*min(2*b, a))", 8),
    ],
)
def test_invertible_functions_with_other_names_are_exact(
    index: ConceptIndex, asked: str, number: int
) -> None:
    assert kinds(index, asked, number) == ["exact"]


@pytest.mark.parametrize(
    ("asked", "number"),
    [("exp(1.03*a**2/2 + b*c)", 0), ("p*exp(-2.04*q)", 2), ("log(b + 3.06*a)", 6)],
)
def test_other_constants_are_another_kind_of_match(
    index: ConceptIndex, asked: str, number: int
) -> None:
    assert kinds(index, asked, number) == ["constants"]


@pytest.mark.parametrize("asked", ["v**2 - 2*g*h", "sin(x*y)", "(x - y)**2"])
def test_what_cannot_be_inverted_or_differs_in_sign_does_not_match(
    index: ConceptIndex, asked: str
) -> None:
    assert all(match.kind == "nearest" for match in find(index, asked))


def test_nearest_ones_come_by_angle_with_their_inputs(index: ConceptIndex) -> None:
    found = find(index, "a + 3*b + 0.1*a*b", count=3)
    assert found[0].formula == "3*y + x" or found[0].formula == "x + 3*y"
    assert dict(found[0].inputs) == {"x": "a", "y": "b"}
    angles = [match.degrees for match in found if match.degrees is not None]
    assert len(angles) == 3
    assert angles == sorted(angles)


def test_without_confirmation_directions_decide(index: ConceptIndex) -> None:
    said = find(index, "tan(3*(a + 3*b))", confirm=False)
    assert said[0].kind == "exact"
    assert not said[0].is_confirmed
    assert find(index, "tan(3*(a + 3*b))")[0].kind == "nearest"


def test_keys_do_not_depend_on_names_or_order() -> None:
    rng = np.random.default_rng(0)
    truth = "a*b**2 + 3*c*sin(d) - a/d"
    key = concept_key(cf.parse(truth))
    for _ in range(4):
        names = rng.permutation(list("pqrs")).tolist()
        renamed = cf.Expression(cf.parse(truth).tree, tuple(names))
        other = concept_key(cf.parse(f"exp({renamed})"))
        assert (other.text, other.law, other.id) == (key.text, key.law, key.id)


def test_laws_keep_signs_and_inner_constants() -> None:
    laws = [concept_key(cf.parse(text)).law for text in ("x**2 - y", "x**2 + y", "x**2 + 9*y")]
    assert laws[0] != laws[1] == laws[2]
    roots = [concept_key(cf.parse(text)).law for text in ("a*b*sqrt(c)", "a*b/sqrt(c)")]
    assert roots[0] != roots[1]
    assert concept_key(cf.parse("y*log(1 + x)")).law != concept_key(cf.parse("y*log(x)")).law


def test_signs_stay_inside_roots() -> None:
    one, other = (
        spelled(tree, {place: f"x{at}" for at, place in enumerate(input_order(tree))})
        for tree in (cf.parse("z + sqrt(a - b**2)").tree, cf.parse("z + sqrt(b**2 - a)").tree)
    )
    assert one != other


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("tanh(9*(x*y) + 2)", "x*y"), ("(x + y)**3", "x + y"), ("(x - y)**2", "(x - y)**2")],
)
def test_outer_functions_are_taken_off_unless_they_lose_a_sign(outer: str, inner: str) -> None:
    assert without_outer(cf.parse(outer)).tree == cf.parse(inner).tree


def test_fingerprints_see_through_domains() -> None:
    one, other = (profiles(cf.parse(text))[0].vector for text in ("log(x - y)", "x - y"))
    assert np.abs(one - other).max() < 1e-12
    assert np.abs(one - profiles(cf.parse("x + y"))[0].vector).max() > 0.05


def test_what_cannot_be_looked_up_is_said() -> None:
    with pytest.raises(ExpressionError, match="constant"):
        entry_of("2 + 3")
    with pytest.raises(ExpressionError, match="up to 12"):
        entry_of(" + ".join(f"x{number}" for number in range(13)))
