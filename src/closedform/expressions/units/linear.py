"""Unknown units as a linear system: exponents add in products and are equal in sums."""

from dataclasses import dataclass, field

from closedform.expressions.units.units import TOLERANCE

Exponents = tuple[float, ...]
"""Exponents of the base units, and last the decimal logarithm of the size."""


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A unit that may depend on unknown ones: fixed exponents, and the power of each unknown."""

    fixed: Exponents
    unknown: tuple[tuple[int, float], ...] = ()

    def plus(self, other: "LinearForm", times: float = 1.0) -> "LinearForm":
        """The unit times a power of another."""
        fixed = tuple(a + times * b for a, b in zip(self.fixed, other.fixed, strict=True))
        if not other.unknown:
            return LinearForm(fixed, self.unknown)
        powers = dict(self.unknown)
        for index, power in other.unknown:
            powers[index] = powers.get(index, 0.0) + times * power
        return LinearForm(fixed, tuple((i, p) for i, p in sorted(powers.items()) if abs(p) > 1e-9))

    def times(self, power: float) -> "LinearForm":
        """A power of the unit."""
        return LinearForm(
            tuple(power * value for value in self.fixed),
            tuple((i, power * p) for i, p in self.unknown if power),
        )

    @property
    def is_pure(self) -> bool:
        """Whether it is that of pure numbers, whatever the unknowns are."""
        return not self.unknown and all(abs(value) <= TOLERANCE for value in self.fixed)


@dataclass(slots=True)
class System:
    """Equations between units, solved as they come."""

    # The first so many unknowns belong to inputs, and are used up before those of constants.
    n_free: int
    solved: dict[int, LinearForm] = field(default_factory=dict)

    def make_pure(self, form: LinearForm) -> bool:
        """Whether a unit can be that of pure numbers; unknowns are settled accordingly."""
        left = self.reduced(form)
        if not left.unknown:
            return left.is_pure
        # Inputs without a stated unit cost nothing; of constants the last one gives way.
        index, power = next(
            (pair for pair in left.unknown if pair[0] < self.n_free), left.unknown[-1]
        )
        without = LinearForm(left.fixed, tuple(pair for pair in left.unknown if pair[0] != index))
        found = without.times(-1 / power)
        for known, other in self.solved.items():
            self.solved[known] = _replaced(other, index, found)
        self.solved[index] = found
        return True

    def reduced(self, form: LinearForm) -> LinearForm:
        """A unit without the unknowns that are settled."""
        for index, power in form.unknown:
            if index in self.solved:
                form = LinearForm(
                    form.fixed, tuple(pair for pair in form.unknown if pair[0] != index)
                )
                form = form.plus(self.solved[index], power)
        return form


def _replaced(form: LinearForm, index: int, found: LinearForm) -> LinearForm:
    powers = dict(form.unknown)
    if index not in powers:
        return form
    power = powers.pop(index)
    return LinearForm(form.fixed, tuple(powers.items())).plus(found, power)
