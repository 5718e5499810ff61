"""phi(formula) as a function of its numbers, in any array library: what is put in a neuron's place.

torch and JAX run the same code; a library is the operator table's view of one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import constant_values, with_numbers
from closedform.expressions.evaluate import Library, value
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Token, Tree, Variable

DEGREE = 3
"""Degree of the monotone spline: the least with a continuous second derivative."""

Numbers = Mapping[str, Any]
"""Arrays by name: those that are trained and those that stay."""


@dataclass(frozen=True, slots=True)
class ParametricFormula:
    """An expression some of whose numbers are arguments."""

    expression: Expression  # with the numbers as they were read
    positions: tuple[int, ...]  # tokens that are arguments

    @property
    def numbers(self) -> FloatArray:
        """The arguments as they were read."""
        return np.asarray(constant_values(self.expression.tree, self.positions), dtype=np.float64)

    @property
    def tree(self) -> Tree:
        """The tree with further inputs, after the expression's own, in place of the arguments."""
        first = len(self.expression.names)
        tokens: list[Token] = list(self.expression.tree.tokens)
        for place, position in enumerate(self.positions):
            tokens[position] = Variable(first + place)
        return Tree(tuple(tokens))

    def value(self, inputs: Sequence[Any], numbers: Any, library: Library) -> Any:
        """The value at arrays, one for each input."""
        arguments = [numbers[place] for place in range(len(self.positions))]
        return value(self.tree, [*inputs, *arguments], library)

    def written(self, numbers: Sequence[float]) -> Expression:
        """The expression with these numbers."""
        tree = with_numbers(self.expression.tree, self.positions, numbers)
        return replace(self.expression, tree=tree)


@dataclass(frozen=True, slots=True)
class FormulaPhi:
    """phi as a formula of one input, for one concept and one latent."""

    formula: ParametricFormula

    def trained(self) -> dict[str, FloatArray]:
        """The formula's numbers."""
        return {"phi": self.formula.numbers}

    def fixed(self) -> dict[str, FloatArray]:
        """A formula has no numbers that stay."""
        return {}

    def value(self, concepts: Any, numbers: Numbers, library: Library) -> Any:
        """The formula's value."""
        return self.formula.value([concepts[..., 0]], numbers["phi"], library)[..., None]

    def __str__(self) -> str:
        return str(self.formula.expression)


@dataclass(frozen=True, slots=True)
class SplinePhi:
    """phi as a cubic spline that only grows or only falls, straight beyond the data.

    The coefficients of a spline with ordered coefficients are ordered, and so is the spline. Its
    steps are exponentials of what is trained, so training cannot make it turn back.
    """

    knots: tuple[float, ...]  # with the ends repeated
    start: float  # the first coefficient
    steps: tuple[float, ...]  # differences of the coefficients, all positive
    sign: float  # 1 if it grows, -1 if it falls

    def trained(self) -> dict[str, FloatArray]:
        """The first coefficient, and the logarithms of the steps."""
        return {"phi": np.concatenate([[self.start], np.log(self.steps)])}

    def fixed(self) -> dict[str, FloatArray]:
        """Knots, and the sign."""
        return {"phi_knots": np.array(self.knots), "phi_sign": np.array(self.sign)}

    def value(self, concepts: Any, numbers: Numbers, library: Library) -> Any:
        """De Boor's recurrence at each point."""
        xp, knots = library.module, numbers["phi_knots"]
        rises = xp.cumsum(xp.exp(numbers["phi"][1:]), 0)
        coefficients = numbers["phi"][0] + numbers["phi_sign"] * xp.concatenate(
            [rises[:1] * 0, rises]
        )
        concept = concepts[..., 0]
        low, high = knots[DEGREE], knots[-DEGREE - 1]
        inside = xp.minimum(xp.maximum(concept, low), high)
        nothing = concept * 0
        first = DEGREE * (coefficients[1] - coefficients[0]) / (knots[DEGREE + 1] - low)
        last = DEGREE * (coefficients[-1] - coefficients[-2]) / (high - knots[-DEGREE - 2])
        beyond = first * xp.minimum(concept - low, nothing)
        beyond = beyond + last * xp.maximum(concept - high, nothing)
        return (_de_boor(inside, knots, coefficients) + beyond)[..., None]

    def __str__(self) -> str:
        return f"a monotone spline with {len(self.steps) + 1} coefficients"


def _de_boor(points: Any, knots: Any, coefficients: Any) -> Any:
    """Values of a spline between its first and its last knot."""
    inner = knots[DEGREE + 1 : -DEGREE - 1]
    place = (points[..., None] >= inner).sum(-1) + DEGREE
    values = [coefficients[place - DEGREE + j] for j in range(DEGREE + 1)]
    for level in range(1, DEGREE + 1):
        for j in range(DEGREE, level - 1, -1):
            left, right = knots[place - DEGREE + j], knots[place + 1 + j - level]
            share = (points - left) / (right - left)
            values[j] = (1 - share) * values[j - 1] + share * values[j]
    return values[DEGREE]


@dataclass(frozen=True, slots=True)
class PolynomialPhi:
    """Several latents as polynomials of several concepts."""

    exponents: tuple[tuple[int, ...], ...]  # one for each term
    centre: tuple[float, ...]  # centre, spread: by which the concepts are standardised
    spread: tuple[float, ...]
    coefficients: FloatArray  # (n_terms, n_latents)

    def trained(self) -> dict[str, FloatArray]:
        """The coefficients."""
        return {"phi": self.coefficients}

    def fixed(self) -> dict[str, FloatArray]:
        """By what concepts are standardised."""
        return {"phi_centre": np.array(self.centre), "phi_spread": np.array(self.spread)}

    def value(self, concepts: Any, numbers: Numbers, library: Library) -> Any:
        """The sums of products of powers."""
        standard = (concepts - numbers["phi_centre"]) / numbers["phi_spread"]
        return terms_of(standard, self.exponents, library.module) @ numbers["phi"]

    def __str__(self) -> str:
        degree = max(sum(powers) for powers in self.exponents)
        return f"polynomials of degree {degree} in {len(self.centre)} concepts"


TrainablePhi = FormulaPhi | SplinePhi | PolynomialPhi
"""How latents follow from concepts: shape (..., n_concepts) to (..., n_latents)."""


def terms_of(standard: Any, exponents: Sequence[Sequence[int]], xp: Any) -> Any:
    """Products of powers, shape (..., n_terms)."""
    terms = []
    for powers in exponents:
        term = standard[..., 0] * 0 + 1
        for column, power in enumerate(powers):
            for _ in range(power):
                term = term * standard[..., column]
        terms.append(term)
    return xp.stack(terms, -1)


@dataclass(frozen=True, slots=True)
class Composition:
    """phi of formulas: what stands in the place of latents."""

    formulas: tuple[ParametricFormula, ...]  # over the same inputs
    phi: TrainablePhi

    def trained(self) -> dict[str, FloatArray]:
        """Numbers that training may change, by name."""
        named = {f"concept_{i}": formula.numbers for i, formula in enumerate(self.formulas)}
        return {name: numbers for name, numbers in named.items() if len(numbers)} | (
            self.phi.trained()
        )

    def fixed(self) -> dict[str, FloatArray]:
        """Numbers that stay, by name."""
        return self.phi.fixed()

    def concepts(self, points: Any, numbers: Numbers, library: Library) -> Any:
        """The concepts' values, shape (..., n_concepts), at points of shape (..., n_inputs)."""
        nothing = points[..., 0] * 0
        values = [
            formula.value(
                formula.expression.columns(points, library), numbers.get(f"concept_{i}"), library
            )
            + nothing
            for i, formula in enumerate(self.formulas)
        ]
        return library.module.stack(values, -1)

    def value(self, points: Any, numbers: Numbers, library: Library) -> Any:
        """The latents' values, shape (..., n_latents)."""
        return self.phi.value(self.concepts(points, numbers, library), numbers, library)

    def __str__(self) -> str:
        return f"{self.phi} of {', '.join(str(formula.expression) for formula in self.formulas)}"
