"""Text from outside, made safe to show: what a terminal obeys, or nobody sees, becomes an
escape.
"""

import re

# Letters, marks and a symbol that leave no trace on the screen; Python counts them as printable.
_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164]"
    r"|[\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def is_plain_text(text: str) -> bool:
    """Whether every character of a text is seen, and does nothing else.

    Control characters, line breaks, marks that turn the direction of writing, characters without
    width, lone surrogates and all spaces but the common one are not.

    Examples
    --------
    >>> is_plain_text("r² of α"), is_plain_text("v\\x1b[2J"), is_plain_text("x\\u202ey")
    (True, False, False)
    """
    return text.isprintable() and _UNSEEN.search(text) is None


def shown(text: object) -> str:
    """The text on one line, with a visible escape in place of every character that is not plain.

    Everything that came from outside (names, titles, notes, paths, the words of other programs'
    errors) goes through here before a person sees it. Escaping twice changes nothing more.

    Examples
    --------
    >>> print(shown("v\\r\\nverified: FAKE\\x1b]0;title\\x07"))
    v\\r\\nverified: FAKE\\x1b]0;title\\x07
    >>> shown("r² of α")
    'r² of α'
    """
    whole = str(text)
    if is_plain_text(whole):
        return whole
    return "".join(
        c if is_plain_text(c) else c.encode("unicode_escape").decode("ascii") for c in whole
    )
