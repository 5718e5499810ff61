"""Numbers that print well."""

from fractions import Fraction

import pytest

from closedform.canonical.product_sums import awkwardness, is_simple, plain, split_power


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.49999999999999994, Fraction(1, 2)),
        (1 / 3, Fraction(1, 3)),
        (2.0000000000001, Fraction(2)),
        (2.00000000001, Fraction("2.00000000001")),
        (Fraction(394111, 399431), Fraction(394111, 399431)),
        (0.1 + 0.2, Fraction(3, 10)),
        (-1e-9, Fraction("-1e-9")),
    ],
)
def test_plain(value: float | Fraction, expected: Fraction) -> None:
    assert plain(value) == expected
    assert plain(plain(value)) == plain(value)


@pytest.mark.parametrize(
    ("base", "exponent", "parts"),
    [
        ("4", "1/2", "2 1 1"),
        ("8", "1/2", "2 2 1/2"),
        ("1/2", "1/2", "1/2 2 1/2"),
        ("8", "1/3", "2 1 1"),
        ("2", "4/3", "2 2 1/3"),
        ("2", "-1/2", "1/2 2 1/2"),
        ("3.961", "-1.735", "1 3961/1000 -347/200"),
        ("-3", "3", "-27 1 1"),
        ("0", "1/2", "0 1 1"),
    ],
)
def test_power(base: str, exponent: str, parts: str) -> None:
    assert " ".join(str(part) for part in split_power(Fraction(base), Fraction(exponent))) == parts


@pytest.mark.parametrize(("base", "exponent"), [(-2, "1/2"), (0, "-1"), (0, "-1/2")])
def test_power_that_is_not_real(base: int, exponent: str) -> None:
    with pytest.raises(ArithmeticError):
        split_power(Fraction(base), Fraction(exponent))


def test_integers_before_decimals_before_fractions() -> None:
    ranked = [Fraction(3), Fraction(1, 2), Fraction(3, 10), Fraction(2, 3), Fraction(173, 1000)]
    assert sorted(ranked, key=awkwardness)[0] == 3
    assert sorted(ranked, key=awkwardness)[-2:] == [Fraction(2, 3), Fraction(173, 1000)]
    assert not is_simple(Fraction(173, 1000))
