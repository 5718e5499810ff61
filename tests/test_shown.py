import pickle
import warnings

import pytest

from closedform.errors import (
    ClosedformError,
    ClosedformWarning,
    ExpressionError,
    MissingDependencyError,
    is_plain_text,
    shown,
)

EVIL = {
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "v\r\nverified: FAKE": r"v\r\nverified: FAKE",
    "a\tb\x00": r"a\tb\x00",
    "\x9b2J": r"\x9b2J",
    "x\u202ey\u2066": r"x\u202ey\u2066",
    "x\u200by\ufeff": r"x\u200by\ufeff",
    "a\u2028b\u2029": r"a\u2028b\u2029",
    "\ud800": r"\ud800",
    "\u3164\ufe0f": r"\u3164\ufe0f",
    "\U000e0041": r"\U000e0041",
}


@pytest.mark.parametrize(("text", "escaped"), EVIL.items())
def test_what_is_not_plain_becomes_a_visible_escape(text, escaped):
    assert shown(text) == escaped
    assert shown(escaped) == escaped
    assert not is_plain_text(text)


def test_no_character_of_unicode_is_left_that_a_terminal_obeys():
    for code in range(0x110000):
        text = shown(chr(code))
        assert text.isprintable(), hex(code)
        text.encode()  # a lone surrogate would fail here


@pytest.mark.parametrize("text", ["", "x", "r² of β", "日本", "v 1", "a\\b", "<b>$x$</b>"])
def test_plain_text_stays(text):
    assert shown(text) is text


def test_every_message_is_escaped_however_the_error_is_made():
    for kind in (ClosedformError, ExpressionError, MissingDependencyError):
        error = kind("no file 'a\x1b[2J\nverified: FAKE'")
        assert str(error) == r"no file 'a\x1b[2J\nverified: FAKE'"
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert ExpressionError("x", position=3).position == 3
    assert MissingDependencyError("x", name="torch").name == "torch"
    with pytest.warns(ClosedformWarning) as caught:
        warnings.warn("a\x1bb", ClosedformWarning, stacklevel=1)
    assert str(caught[0].message) == r"a\x1bb"
