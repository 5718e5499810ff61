import random

from closedform_bench.reliability.random_texts import (
    BAD_NAMES,
    NAMES,
    NUMBERS,
    random_text,
    round_trip,
)


def test_generated_texts_are_read_printed_and_read_back_the_same():
    rng = random.Random(20261115)
    outcomes = {text: round_trip(text) for text in (random_text(rng) for _ in range(5_000))}
    assert [text for text, outcome in outcomes.items() if outcome == "different"] == []
    assert list(outcomes.values()).count("same") > 0.3 * len(outcomes)
    assert list(outcomes.values()).count("refused") > 0.1 * len(outcomes)


def test_the_listed_names_and_numbers_are_what_they_say():
    assert {round_trip(text) for text in (*NAMES, *NUMBERS)} == {"same"}
    assert {round_trip(text) for text in BAD_NAMES} == {"refused"}
