"""Formulas to sums of products, by rules that are exact on the data."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from math import exp, isfinite, pi

from closedform.canonical.product_sums import (
    EULER,
    ONE,
    Atom,
    Factors,
    ProductSum,
    atom_order,
    collect,
    is_logarithm,
    is_short,
    is_simple,
    of_atom,
    of_factors,
    of_number,
    plain,
    split_constant,
    split_power,
)
from closedform.canonical.sum_spelling import group, spell
from closedform.canonical.tolerances import EQUAL, LARGEST_EXPANDED_POWER, LONGEST_CONSTANT
from closedform.expressions.evaluate import number_of
from closedform.expressions.operators import OPERATORS, POWERS, Operator
from closedform.expressions.tree import Constant, Token, Tree, apply, constant


class Algebra:
    """Arithmetic on sums.

    sign_of: the sign (1, -1, or 0 where it changes) of a formula on the data: roots and logarithms
        of products need it. Without data no sign is known.
    """

    def __init__(self, sign_of: Callable[[Tree], int] = lambda tree: 0) -> None:
        self._sign_of = sign_of

    def normal(self, tree: Tree) -> ProductSum:
        """The sum that a formula is."""
        return tree.fold(_leaf, self._node)

    def multiply(self, first: ProductSum, second: ProductSum) -> ProductSum:
        """The product; sums that meet other than numbers stay in brackets."""
        for number, other in ((first.number, second), (second.number, first)):
            if number is not None:
                return other.scaled(number)
        return self._product([*self._as_factors(first), *self._as_factors(second)], ONE)

    def power(self, base: ProductSum, exponent: Fraction) -> ProductSum:
        """A power with a constant exponent."""
        if exponent == 1 or base.number == 1:
            return base
        if exponent == 0:
            return of_number(1)
        if base.single is None:
            return self._power_of_group(base, exponent)
        factors, coefficient = base.single
        if exponent.denominator == 1:
            outside, inside, size = [*factors], (), coefficient
        else:
            outside, inside = self._pulled(factors, coefficient)
            size = abs(coefficient)
        powers = [(atom, power * exponent) for atom, power in outside]
        if inside or size != coefficient:
            if not inside:
                raise ArithmeticError("root of a negative number")
            powers.append(
                (group(self._product(inside, ONE if coefficient > 0 else -ONE)), exponent)
            )
        number, *root = split_power(size, exponent)
        return self._product([*powers, *_root(*root)], number)

    def exponential(self, argument: ProductSum) -> ProductSum:
        """exp of a sum: numbers and logarithms in it become factors."""
        result = of_number(1)
        rest: list[tuple[Factors, Fraction]] = []
        for factors, coefficient in argument.parts:
            constants, varying = split_constant(factors)
            if not factors and is_short(coefficient):
                result = self.multiply(result, of_factors([(EULER, coefficient)]))
            elif not varying:
                result = result.scaled(plain(exp(float(coefficient) * constant_value(constants))))
            elif is_logarithm(factors):
                inside = self.normal(factors[0][0].tree.children[0])
                result = self.multiply(result, self.power(inside, coefficient))
            else:
                rest.append((factors, coefficient))
        if not rest:
            return result
        lead = collect(rest).parts[0][1]
        inner = collect(rest).scaled(1 / lead)
        return self.multiply(result, of_factors([(Atom(apply("exp", spell(inner)), inner), lead)]))

    def logarithm(self, argument: ProductSum) -> ProductSum:
        """log of a sum: factors that are positive on the data become terms."""
        if argument.single is None:
            size = abs(argument.parts[0][1]) if argument.parts else Fraction(0)
            if size == 0:
                raise ArithmeticError("logarithm of zero")
            inside = argument.scaled(1 / size)
            return constant_function("log", of_number(size)).plus(
                of_atom(Atom(apply("log", spell(inside))))
            )
        factors, coefficient = argument.single
        outside, inside = self._pulled(factors, coefficient)
        if not inside and coefficient <= 0:
            raise ArithmeticError("logarithm of a number that is not positive")
        total = constant_function("log", of_number(abs(coefficient)))
        for atom, power in outside:
            total = total.plus(self._log_of(atom).scaled(power))
        if inside:
            remaining = self._product(inside, ONE if coefficient > 0 else -ONE)
            total = total.plus(of_atom(Atom(apply("log", spell(remaining)))))
        return total

    def expanded(self, total: ProductSum) -> ProductSum:
        """The sum with brackets multiplied out."""
        result = of_number(0)
        for factors, coefficient in total.parts:
            parts = [of_number(coefficient)]
            for atom, power in factors:
                is_whole = power.denominator == 1 and 0 < power <= LARGEST_EXPANDED_POWER
                if atom.is_group and atom.inside is not None and is_whole:
                    parts += [self.expanded(atom.inside)] * int(power)
                else:
                    parts.append(of_factors([(atom, power)]))
            result = result.plus(reduce(self.distributed, parts))
        return result

    def distributed(self, first: ProductSum, second: ProductSum) -> ProductSum:
        """The product, term by term."""
        pieces = (
            part
            for factors_a, a in first.parts
            for factors_b, b in second.parts
            for part in self._product([*factors_a, *factors_b], a * b).parts
        )
        return collect(pieces)

    def _as_factors(self, total: ProductSum) -> list[tuple[Atom, Fraction]]:
        """A sum as factors; a number among them is an atom, which `_product` takes out again."""
        if total.single is not None:
            factors, coefficient = total.single
            return [*factors, (Atom(constant(coefficient)), ONE)]
        lead = total.parts[0][1]
        return [(group(total.scaled(1 / lead)), ONE), (Atom(constant(lead)), ONE)]

    def _product(
        self, factors: Iterable[tuple[Atom, Fraction]], coefficient: Fraction
    ) -> ProductSum:
        """A product of powers of atoms: like atoms meet, exponentials become one."""
        powers: dict[Atom, Fraction] = {}
        for atom, power in factors:
            if isinstance(atom.tree.root, Constant) and power.denominator == 1:
                coefficient *= split_power(atom.tree.root.value, power)[0]
            else:
                powers[atom] = powers.get(atom, Fraction(0)) + power
        powers = {atom: plain(power) for atom, power in powers.items() if power}
        for atom, power in powers.items():
            if atom.tree.root == "abs" and power.denominator == 1 and power % 2 == 0:
                rest = self._product(
                    [factor for factor in powers.items() if factor[0] != atom], coefficient
                )
                return self.multiply(rest, self.power(self.normal(atom.tree.children[0]), power))
        exponentials = [atom for atom in powers if atom.is_exponential]
        if len(exponentials) > 1:
            argument = of_number(0)
            for atom in exponentials:
                assert atom.inside is not None
                argument = argument.plus(atom.inside.scaled(powers.pop(atom)))
            return self.multiply(
                self._product(powers.items(), coefficient), self.exponential(argument)
            )
        for atom, power in list(powers.items()):
            if isinstance(atom.tree.root, Constant):
                number, *root = split_power(atom.tree.root.value, power)
                if _root(*root) != [(atom, power)]:
                    del powers[atom]
                    return self._product([*powers.items(), *_root(*root)], coefficient * number)
        if len(powers) == 1:
            (atom, power), *_ = powers.items()
            if power == 1 and atom.is_group and atom.inside is not None:
                return atom.inside.scaled(coefficient)
        return of_factors(powers.items(), coefficient)

    def _power_of_group(self, base: ProductSum, exponent: Fraction) -> ProductSum:
        if not base.parts:
            return of_number(split_power(Fraction(0), exponent)[0])
        lead = base.parts[0][1] if exponent.denominator == 1 else abs(base.parts[0][1])
        number, *root = split_power(lead, exponent)
        return self._product([(group(base.scaled(1 / lead)), exponent), *_root(*root)], number)

    def _pulled(
        self, factors: Factors, coefficient: Fraction
    ) -> tuple[list[tuple[Atom, Fraction]], Factors]:
        """Factors with a root or logarithm of their own, and those positive only together."""
        outside: list[tuple[Atom, Fraction]] = []
        inside: list[tuple[Atom, Fraction]] = []
        for atom, power in factors:
            if atom.is_constant or power.denominator != 1 or self._is_positive(atom):
                outside.append((atom, power))
            elif power % 2 == 0:
                outside.append((Atom(apply("abs", atom.tree)), power))
            else:
                inside.append((atom, power))
        if len(inside) == 1 and coefficient > 0:
            return [*outside, *inside], ()
        return outside, tuple(inside)

    def _is_positive(self, atom: Atom) -> bool:
        return atom.is_exponential or atom.tree.root == "abs" or self._sign_of(atom.tree) > 0

    def _log_of(self, atom: Atom) -> ProductSum:
        if atom == EULER:
            return of_number(1)
        if atom.is_constant:
            return constant_function("log", of_atom(atom))
        if atom.is_exponential and atom.inside is not None:
            return atom.inside
        return of_atom(Atom(apply("log", atom.tree)))

    def _node(self, name: str, *operands: ProductSum) -> ProductSum:
        first = operands[0]
        if name in ("add", "sub"):
            return first.plus(operands[1] if name == "add" else operands[1].scaled(-ONE))
        if name == "neg":
            return first.scaled(-ONE)
        if name == "mul":
            return self.multiply(first, operands[1])
        if name == "div":
            return self.multiply(first, self.power(operands[1], -ONE))
        if name in POWERS:
            return self.power(first, POWERS[name])
        if name == "pow":
            return self._general_power(first, operands[1])
        if name == "exp":
            return self.exponential(first)
        if all(is_constant_sum(operand) for operand in operands):
            return constant_function(name, *operands)
        if len(operands) == 2:
            return of_two(name, first, operands[1])
        if name == "log":
            return self.logarithm(first)
        if name == "abs":
            return self._absolute(first)
        return of_one(name, first)

    def _general_power(self, base: ProductSum, exponent: ProductSum) -> ProductSum:
        if exponent.number is not None:
            return self.power(base, exponent.number)
        factors, coefficient = base.single or ((), ONE)
        if coefficient == 1 and len(factors) == 1:
            atom, power = factors[0]
            if atom.is_exponential and atom.inside is not None:
                return self.exponential(self.multiply(atom.inside.scaled(power), exponent))
        return of_atom(Atom(apply("pow", spell(base), spell(exponent))))

    def _absolute(self, argument: ProductSum) -> ProductSum:
        sign = self._sign_of(spell(argument))
        if sign:
            return argument.scaled(Fraction(sign))
        if argument.single is None:
            lead = argument.parts[0][1]
            inside = Atom(apply("abs", spell(argument.scaled(1 / lead))))
            return of_factors([(inside, ONE)], abs(lead))
        factors, coefficient = argument.single
        kept = [
            (a, p)
            for a, p in factors
            if a.is_constant or p.denominator != 1 or p % 2 == 0 or self._is_positive(a)
        ]
        odd = tuple((atom, power) for atom, power in factors if (atom, power) not in kept)
        if odd:
            kept.append((Atom(apply("abs", spell(self._product(odd, ONE)))), ONE))
        return self._product(kept, abs(coefficient))


def _leaf(token: Token) -> ProductSum:
    if isinstance(token, Constant):
        return of_number(token.value)
    return of_atom(Atom(Tree((token,))))


def _root(base: Fraction, exponent: Fraction) -> list[tuple[Atom, Fraction]]:
    return [] if base == 1 else [(Atom(constant(base)), exponent)]


def of_one(name: str, argument: ProductSum) -> ProductSum:
    """A function of one argument with its sign, its scale and quarter turns taken out, as far as
    the function lets them.
    """
    sign = ONE
    if name in ("sin", "cos", "tan"):
        name, sign, argument = _turned(name, argument)
    operator = OPERATORS[name]
    if argument.parts[0][1] < 0 and operator.parity is not None:
        sign, argument = (-sign if operator.parity == "odd" else sign), argument.scaled(-ONE)
    factor, (argument,) = _scaled_alike(operator, argument)
    return of_factors([(Atom(apply(name, spell(argument))), ONE)], sign * factor)


def of_two(name: str, first: ProductSum, second: ProductSum) -> ProductSum:
    """A function of two arguments, in one order if symmetric, without their common scale."""
    operator = OPERATORS[name]
    factor, (first, second) = _scaled_alike(operator, first, second)
    trees = [spell(first), spell(second)]
    if operator.is_symmetric:
        trees.sort(key=atom_order)
        if trees[0] == trees[1] and operator.homogeneous == 1:
            return first.scaled(factor)
    return of_factors([(Atom(apply(name, *trees)), ONE)], factor)


def _scaled_alike(
    operator: Operator, *arguments: ProductSum
) -> tuple[Fraction, tuple[ProductSum, ...]]:
    """The factor of a homogeneous function, and its arguments divided by the first size."""
    if operator.homogeneous is None:
        return ONE, arguments
    # The order of the arguments may still change, so the scale must not depend on it.
    sizes = [abs(argument.parts[0][1]) for argument in arguments if argument.parts]
    size = max(sizes, default=ONE) if operator.is_symmetric else next(iter(sizes), ONE)
    return size**operator.homogeneous, tuple(argument.scaled(1 / size) for argument in arguments)


def _turned(name: str, argument: ProductSum) -> tuple[str, Fraction, ProductSum]:
    """sin(x + pi/2) as cos(x), and the like."""
    shift = sum(float(c) * constant_value(f) for f, c in argument.parts if not split_constant(f)[1])
    quarters = round(shift / (pi / 2))
    step = 2 if name == "tan" else 1
    if not quarters or quarters % step or abs(shift - quarters * pi / 2) > EQUAL * abs(shift):
        return name, ONE, argument
    rest = ProductSum(tuple(part for part in argument.parts if split_constant(part[0])[1]))
    if name == "tan":
        return name, ONE, rest
    turn = (quarters + (name == "cos")) % 4
    return ("sin", "cos")[turn % 2], (-ONE if turn >= 2 else ONE), rest


def constant_value(factors: Iterable[tuple[Atom, Fraction]]) -> float:
    """The value of a product of constant atoms."""
    result = 1.0
    for atom, power in factors:
        result *= number_of(atom.tree) ** float(power)
    return result


def is_constant_sum(total: ProductSum) -> bool:
    """Whether no input occurs."""
    return not any(split_constant(factors)[1] for factors, _ in total.parts)


def constant_function(name: str, *arguments: ProductSum) -> ProductSum:
    """A function of constants: a simple number, else a constant of its own, or decimals if long."""
    tree = apply(name, *(spell(argument) for argument in arguments))
    level = number_of(tree)
    if not isfinite(level):
        raise ArithmeticError("not a finite number")
    decimals = plain(level)
    if (
        is_simple(decimals)
        or tree.size > LONGEST_CONSTANT
        or not all(is_short(token.value) for token in tree.tokens if isinstance(token, Constant))
    ):
        return of_number(decimals)
    return of_atom(Atom(tree))
