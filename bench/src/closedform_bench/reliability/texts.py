"""Texts, right and wrong: what is read is printed and read back the same."""

import random

from closedform_bench.reliability.random_texts import random_text, round_trip
from closedform_bench.reliability.trial import TrialKind, each


def _text(number: int) -> str:
    text = random_text(random.Random(f"text {number}"))
    outcome = round_trip(text)
    return f"failed: {text!a} is read back as something else" if outcome == "different" else outcome


KIND = TrialKind(
    "texts",
    "Random texts, right and wrong, for the parser: read, printed and read back the same, or "
    "refused in its own words.",
    2_000_000,
    each(_text),
)
