"""Sums that are a square up to a constant: x**2 + 2*x*y + y**2 is (x + y)**2."""

from fractions import Fraction

from closedform.canonical.algebra import Algebra
from closedform.canonical.plain_numbers import plain
from closedform.canonical.product_sums import Atom, Factors, ProductSum, collect, of_factors
from closedform.canonical.tolerances import MOST_ROOT_TERMS


def squared(total: ProductSum, algebra: Algebra) -> ProductSum | None:
    """The sum as the square of another, if it is one up to an additive constant and its sign.

    The root is found term by term, from the highest on, as in the division of polynomials.
    """
    atoms = list(dict.fromkeys(atom for factors, _ in total.parts for atom, _ in factors))
    if len(total.parts) < 2 or any(
        p.denominator != 1 or p < 0 or a.is_constant for f, _ in total.parts for a, p in f
    ):
        return None

    def highest(part: tuple[Factors, Fraction]) -> list[Fraction]:
        powers = dict(part[0])
        return [powers.get(atom, Fraction(0)) for atom in atoms]

    factors, coefficient = max(total.parts, key=highest)
    if any(power % 2 for _, power in factors):
        return None
    target = total if coefficient > 0 else total.scaled(Fraction(-1))
    number = plain(float(abs(coefficient)) ** 0.5)
    lead = of_factors(((atom, power / 2) for atom, power in factors), number)
    root = lead
    for _ in range(MOST_ROOT_TERMS):
        rest = target.plus(algebra.distributed(root, root).scaled(Fraction(-1)))
        if rest.number is not None:
            return algebra.power(root, Fraction(2)) if len(root.parts) > 1 else None
        following = _quotient(max(rest.parts, key=highest), lead)
        if following is None:
            return None
        root = root.plus(following)
    return None


def _quotient(part: tuple[Factors, Fraction], lead: ProductSum) -> ProductSum | None:
    """A term divided by twice the leading one, if the division leaves no negative power."""
    (divisor, number), *_ = lead.parts
    powers: dict[Atom, Fraction] = dict(part[0])
    for atom, power in divisor:
        powers[atom] = powers.get(atom, Fraction(0)) - power
    if any(power < 0 for power in powers.values()):
        return None
    return collect(of_factors(powers.items(), part[1] / (2 * number)).parts)
