"""How verdicts and checks look wherever they are shown: their words, colours and marks, once."""

from collections.abc import Mapping
from dataclasses import dataclass

from closedform.interpretation.verdict import Status


@dataclass(frozen=True, slots=True)
class Look:
    """How a status is shown.

    Attributes
    ----------
    word : str
    caption : str
        Stands over a formula that must not be taken for more than it is.
    terminal : str
        Colour by its name.
    notebook : str
        Readable on white and on black: notebooks do not say which one they have.
    light, dark : tuple of str
        On the page: of text, of shapes, and of the ground behind text.
    """

    word: str
    caption: str
    terminal: str
    notebook: str
    light: tuple[str, str, str]
    dark: tuple[str, str, str]


LOOKS: Mapping[Status, Look] = {
    "verified": Look(
        "Verified", "", "green", "#009E73",
        ("#00795a", "#009e73", "#e3f4ee"), ("#3ccfa2", "#1fb58a", "#15312a"),
    ),
    "ambiguous": Look(
        "Ambiguous", "One of several that fit equally well", "cyan", "#0072B2",
        ("#005a8d", "#0072b2", "#e2eef6"), ("#6fb8e8", "#3d9bd6", "#142a38"),
    ),
    "approximate": Look(
        "Approximate", "Approximate concept", "yellow", "#C98A00",
        ("#8a5800", "#e69f00", "#fbf1dc"), ("#f3bc4d", "#e69f00", "#362a12"),
    ),
    "none": Look(
        "No closed form found", "Closest candidate, not to be trusted", "red", "#D55E00",
        ("#b04a00", "#d55e00", "#fcebe0"), ("#ff9a5c", "#e46f1c", "#3a2215"),
    ),
}  # fmt: skip

CHECK_MARKS: Mapping[str, str] = {"passed": "✓", "failed": "✕", "not made": "\N{EN DASH}"}
"""By `CheckResult.word`."""
