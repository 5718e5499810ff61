import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.printing import check_names, quote
from closedform.expressions.tolerances import LONGEST_NAME
from closedform.expressions.tree import variable

TAKEN = (
    "r²", "v 1", "β", "x'", "sin", "ln", "Abs", "e", "E", "e5", "½", "²", "x٣", "٣", "日本", 'a"b',
    "c:\\d", "\\input{a}",
    "$x$", "#%&", "{}", "<script>", "x" * LONGEST_NAME, "e\u0301", "2", "1e5", "x+y", "_", "😀",
    "pi2",
)  # fmt: skip
REFUSED = {
    "": "empty",
    "`": "backticks",
    " x": "space",
    "x ": "space",
    "pi": "number pi",
    "π": "number pi",
    "x" * (LONGEST_NAME + 1): "at most 200",
    "v\r\nverified: FAKE": "not visible",
    "\x1b]0;t\x07": "not visible",
    "x\u202ey": "not visible",
    "x\u200b": "not visible",
    "x\u3164": "not visible",
    "x\xa0y": "not visible",
    "\ud800": "not visible",
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_is_taken_is_read_back(name):
    expression = Expression(variable(0), (name,))
    assert str(expression) == quote(name)
    assert cf.parse(str(expression)) == expression
    assert cf.parse(f"2*{quote(name)}**2 - 1", names=["other", name]).names == ("other", name)


def test_all_names_stand_in_one_formula():
    text = " + ".join(f"{place + 2}*{quote(name)}" for place, name in enumerate(TAKEN))
    expression = cf.parse(text, names=TAKEN)
    assert cf.parse(str(expression), names=TAKEN) == expression


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_a_name_that_is_refused_says_why_and_is_shown_escaped(name, reason):
    for make in (
        lambda: Expression(variable(0), (name,)),
        lambda: cf.parse("1", names=["x", name]),
        lambda: check_names([name]),
    ):
        with pytest.raises(ExpressionError, match=reason) as caught:
            make()
        assert "cannot be named" in str(caught.value)
        assert str(caught.value).isprintable()


def test_a_refused_name_in_the_text_has_its_place():
    for text in ("x + `a\x1b`", "x + ` y`", "x + `pi`", "x + \u3164"):
        with pytest.raises(ExpressionError, match="cannot have this name") as caught:
            cf.parse(text)
        assert caught.value.position in (4, 5)
        assert str(caught.value).isprintable()


def test_duplicates_and_what_is_no_text_are_refused():
    with pytest.raises(ExpressionError, match="'x' occurs 2 times"):
        Expression(variable(0), ("x", "y", "x"))
    with pytest.raises(ExpressionError, match="a name is text, not int"):
        Expression(variable(0), (3,))  # pyright: ignore[reportArgumentType]


def test_names_with_superscripts_are_sorted():
    """``int('²')`` raised a ValueError."""
    assert cf.parse("`²` + `r²` + x10 + x2").names == ("r²", "x2", "x10", "²")
