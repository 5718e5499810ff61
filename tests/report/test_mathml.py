import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings

from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Tree, apply, variable
from closedform.report.mathml import MAX_NODES, is_one_letter, mathml_terms, name_mathml
from closedform.testing import expressions

PLAIN = {ord("\N{MINUS SIGN}"): "-", ord("\N{MULTIPLICATION SIGN}"): "*"}
WORDS = {"mfrac": "({0})/({1})", "msup": "{0}^{1}", "msub": "{0}_{1}", "msqrt": "sqrt({0})"}


def shown(text: str, names: list[str] | None = None) -> str:
    """The formula as a reader sees it, from left to right."""
    terms = mathml_terms(parse(text, names))
    return "".join(_spoken(ElementTree.fromstring(term)) for term in terms).translate(PLAIN)


def _spoken(element: ElementTree.Element) -> str:
    parts = [_spoken(child) for child in element]
    return WORDS.get(element.tag, "{}" * len(parts)).format(*parts) + (element.text or "").strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v**2/2 + sin(x)", "(v^2)/(2)+sin(x)"),
        ("0.173/(v**2 + x**2)", "(0.173)/(v^2+x^2)"),
        ("-v**2 + sin(x)/(-0.5)", "-v^2-2sin(x)"),
        ("x - (y - z)", "x-y+z"),
        ("x - -0.25*y", "x+(y)/(4)"),
        ("-(x + y)", "-x-y"),
        ("x*2", "2x"),
        ("2*(x + y)", "2(x+y)"),
        ("z - 2*(x + y)", "z-2(x+y)"),
        ("z - (x - y)**1", "z-(x-y)"),
        ("x*(y + 1)", "x(y+1)"),
        ("(x + y)**2", "(x+y)^2"),
        ("(-x)**2", "x^2"),
        ("(x*y)**2", "x^2y^2"),
        ("x**-2", "(1)/(x^2)"),
        ("x**0.5", "sqrt(x)"),
        ("x**0.3", "x^0.3"),
        ("2**x", "2^x"),
        ("sqrt(1 + v**2)", "sqrt(v^2+1)"),
        ("inv(x + 1)", "(1)/(x+1)"),
        ("square(x)*cube(y)", "x^2y^3"),
        ("sin(x)**2", "sin^2(x)"),
        ("sin(x)**a", "sin^a(x)"),
        ("exp(-x**2)", "e^-x^2"),
        ("exp(-x)*y/(1 - x)", "(ye^-x)/(1-x)"),
        ("abs(x)", "|x|"),
        ("atan(x)", "arctan(x)"),
        ("pi*x", "πx"),
        ("0.3141592*x", "0.3142x"),
        ("0.1*x", "0.1x"),
        ("0.7142857142857143*x", "0.7143x"),
        ("1.5e-7*x", "1.5·10^-7x"),
        ("A11*A22 - A12*A21", "A_11A_22-A_12A_21"),
        ("omega_0*t", "ω_0t"),
        ("Delta*E_kin", "ΔE_kin"),
        ("mass*speed", "mass·speed"),
        ("2*mass**2", "2·mass^2"),
    ],
)
def test_formulas_read_as_a_person_writes_them(text, expected):
    assert shown(text) == expected


def test_names_are_escaped():
    expression = parse("`<script>alert(1)</script>` + `a & b`")
    source = "".join(mathml_terms(expression))
    assert "<script" not in source
    found = ElementTree.fromstring(f"<div>{source}</div>").iter("mtext")
    assert {element.text for element in found} == {"<script>alert(1)</script>", "a & b"}


def test_names_are_not_read_as_latex():
    source = "".join(mathml_terms(parse(r"`\frac{1` + `@1@` + `a_{`")))
    found = ElementTree.fromstring(f"<div>{source}</div>").iter("mtext")
    assert {element.text for element in found} == {r"\frac{1", "@1@", "a_{"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "<mi>x</mi>"),
        ("x1", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("x_i_j", "<msub><mi>x</mi><mi>i,j</mi></msub>"),
        ("Omega", "<mi>Ω</mi>"),
        ("sigma_xi", "<msub><mi>\N{GREEK SMALL LETTER SIGMA}</mi><mi>ξ</mi></msub>"),
        ("wind_speed", "<mtext>wind_speed</mtext>"),
        ("mass_1", "<msub><mi>mass</mi><mn>1</mn></msub>"),
        ("x_" + "long_" * 9, "<mtext>x_" + "long_" * 9 + "</mtext>"),
        ("1st", "<mtext>1st</mtext>"),
        ("_x", "<mtext>_x</mtext>"),
        ("temperature", "<mi>temperature</mi>"),
    ],
)
def test_names(name, expected):
    assert name_mathml(name) == expected


def test_only_letters_stand_side_by_side():
    assert [is_one_letter(name) for name in ("x", "x_1", "omega", "mass", "a b")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@settings(deadline=None)
@given(expressions(("x", "omega_0", "A12", "<b>")))
def test_any_expression_is_well_formed(expression):
    for source in mathml_terms(expression):
        ElementTree.fromstring(re.sub("&nbsp;", "", source))


def test_terms_break_a_sum_only():
    assert len(mathml_terms(parse("x + y - z*(a + b)"))) == 3
    assert len(mathml_terms(parse("x*y"))) == 1


def test_huge_expressions_are_text():
    tree: Tree = variable(0)
    for _ in range(MAX_NODES):
        tree = apply("sin", tree)
    (source,) = mathml_terms(Expression(tree, ("x",)))
    assert source.startswith('<math displaystyle="true"><mtext>sin(')
