"""Proposals of plainer constants."""

import pytest

from closedform import Expression, parse
from closedform.canonical.proposals import snapped_forms
from closedform.errors import ShapeError


def texts(forms: list[Expression]) -> list[str]:
    return [str(form) for form in forms]


def test_all_at_once_then_fewer() -> None:
    forms = texts(snapped_forms(parse("x**2 + 1.98*y + 0.49*z")))
    assert forms[0] == "2*x**2 + 4*y + z"
    assert "x**2 + 2*y + 0.49*z" in forms
    assert "x**2 + 1.98*y + z/2" in forms


def test_most_certain_constants_go_first() -> None:
    forms = texts(
        snapped_forms(
            parse("x + 2.02*y + 3.3*z + 1.2*w", names=list("xyzw")), errors=[0.02, 0.2, 0.3]
        )
    )
    assert "w + x + 2*y + 3*z" in forms
    # w is two thirds of an error from 1, y one error from 2, z one and a half from 3.
    assert "w + x + 2*y + 3.3*z" in forms
    assert "1.2*w + x + 2*y + 3*z" not in forms


def test_zero_only_if_it_is_compatible() -> None:
    assert "x" in texts(snapped_forms(parse("x + 0.02*y"), errors=[0.01]))
    assert "x" not in texts(snapped_forms(parse("x + 0.02*y"), errors=[0.001]))


@pytest.mark.parametrize(
    ("text", "error", "form"),
    [("x + 3.14159*y", 1e-5, "x + pi*y"), ("x + 1.41421*y", 1e-5, "x + sqrt(2)*y"),
     ("x + 2.71828*y", 1e-5, "x + exp(1)*y"),
     ("x + 1.5708*y", 1e-5, "x + pi/2*y")],
)  # fmt: skip
def test_irrational_numbers(text: str, error: float, form: str) -> None:
    assert form in texts(snapped_forms(parse(text), errors=[error]))


def test_irrational_numbers_need_small_errors() -> None:
    for errors in (None, [0.01]):
        assert not any(
            "pi" in text for text in texts(snapped_forms(parse("x + 3.14159*y"), errors=errors))
        )
    assert not any(
        "pi" in text for text in texts(snapped_forms(parse("x + 3.1417*y"), errors=[1e-5]))
    )


def test_factors_move_into_exponentials() -> None:
    assert "v**2 + x**2 + 2*exp(1)*exp(x)" in texts(
        snapped_forms(parse("v**2 + x**2 + 5.43*exp(x)"), errors=[0.02])
    )
    assert "v**2 + exp(x + 1)" in texts(snapped_forms(parse("v**2 + 2.7*exp(x)")))


def test_exponents_and_inner_constants_snap_too() -> None:
    assert "x**2 + y" in texts(snapped_forms(parse("x**1.98 + y")))
    assert "v**2 + sin(x)" in texts(snapped_forms(parse("v**2 + sin(1.02*x + 0.03)")))


def test_plain_formula_has_no_proposals() -> None:
    assert snapped_forms(parse("v**2/2 + sin(x)")) == []
    assert snapped_forms(parse("x*y")) == []


def test_names_and_columns_stay() -> None:
    (form,) = snapped_forms(parse("x + 1.99*v", names=["x", "v"]))
    assert form.names == ("x", "v")
    assert str(form) == "2*v + x"


def test_no_form_is_constant_or_repeated() -> None:
    forms = snapped_forms(parse("0.1*x + 0.2*y"))
    assert len(set(forms)) == len(forms)
    assert all(form.tree.variables for form in forms)


def test_number_of_errors_is_checked() -> None:
    with pytest.raises(ShapeError, match="2 errors were given for 1 free constants"):
        snapped_forms(parse("x + 2.1*y"), errors=[0.1, 0.1])
