"""First shots: the whole concept as a product of powers, or as a sum of multiples of the inputs or
of their squares, from one eigenproblem each.

Merging pair by pair decides each exponent on two inputs; with much noise, all inputs together
decide better.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.eigen import fit_coefficients
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.quantities import Data

SIMPLE = 4
"""Exponents and coefficients are also tried as fractions with this denominator."""


def first_shots(data: Data, may_go_on: Callable[[], bool]) -> list[Tree]:
    """Products of powers, sums and sums of squares of the inputs that matter most, of two and more
    inputs, as long as there is time.
    """
    found: list[Tree] = []
    positive = (data.points > 0).all(axis=0)
    if positive.sum() > 1:
        columns = np.flatnonzero(positive)
        for chosen, numbers in _nested(
            data, columns, data.scale[columns] / data.points[:, columns], may_go_on
        ):
            exact = [Fraction(repr(round(number, 6))) for number in numbers]
            plain = [Fraction(round(number * SIMPLE), SIMPLE) for number in numbers]
            found += [_powers(chosen, exponents) for exponents in (plain, exact)]
    columns = np.arange(data.points.shape[1])
    for is_square in (False, True):
        slopes = (
            2 * data.points * data.scale
            if is_square
            else np.tile(data.scale, (len(data.points), 1))
        )
        for chosen, numbers in _nested(data, columns, slopes, may_go_on):
            plain = [round(number * SIMPLE) / SIMPLE for number in numbers]
            found += [_sum(chosen, each, is_square=is_square) for each in (plain, numbers)]
    return [tree for tree in dict.fromkeys(found) if not tree.is_constant]


def _nested(
    data: Data, columns: np.ndarray, slopes: FloatArray, may_go_on: Callable[[], bool]
) -> list[tuple[list[int], list[float]]]:
    """Coefficients of one function of each input, for the inputs of the largest shares; the first
    is 1.
    """
    n_points, n_inputs = data.points.shape
    jacobian = np.zeros((n_points, n_inputs, len(columns)))
    jacobian[:, columns, np.arange(len(columns))] = slopes
    found: list[tuple[list[int], list[float]]] = []
    left = np.arange(len(columns))
    while len(left) > 1 and may_go_on():
        try:
            fit = fit_coefficients(jacobian[:, :, left], data.directions[:, :, None], data.weights)
        except np.linalg.LinAlgError:
            break
        order = np.argsort(-fit.shares, kind="stable")
        largest = fit.coefficients[order[0]]
        if largest == 0 or not np.isfinite(fit.coefficients).all():
            break
        found.append(
            (
                [int(columns[left[k]]) for k in order],
                [float(fit.coefficients[k] / largest) for k in order],
            )
        )
        left = left[np.sort(order[:-1])]
    return found


def _powers(columns: list[int], exponents: list[Fraction]) -> Tree:
    return product_of_powers(
        [(variable(column), exponent) for column, exponent in zip(columns, exponents, strict=True)]
    )


def _sum(columns: list[int], numbers: list[float], *, is_square: bool) -> Tree:
    terms = []
    for column, number in zip(columns, numbers, strict=True):
        power = apply("square", variable(column)) if is_square else variable(column)
        if number:
            term = power if abs(number) == 1 else apply("mul", constant(abs(number)), power)
            terms.append(term if number > 0 else apply("neg", term))
    return sum_of(terms)
