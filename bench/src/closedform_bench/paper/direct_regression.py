"""The baseline: direct symbolic regression of the latent's values on the inputs, without the
answers.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.searching.evolution.operon import load
from closedform.searching.space import SearchSpace

# Of five sets that were tried, this got farthest in 5 s on tanh(x**2 + y**2 - z**2) and sqrt(x**2/2
# + v**2/2 + x**4/4).
MOST_POINTS = 500
POPULATION = 500
LOCAL_ITERATIONS = 5
LOCAL_SHARE = 0.2
"""Of the offspring, whose constants get that many steps of Levenberg-Marquardt."""

MAX_LENGTH = 40
DIGITS = 9


def regress_latent(
    field: GradientField, *, seconds: float, seed: int = 0, space: SearchSpace | None = None
) -> list[Expression]:
    """Fit formulas to the latent of a field with pyoperon's own regressor.

    Parameters
    ----------
    field : GradientField
        With the latent's values.
    seconds : float
        As much as the reading gets.
    seed : int
    space : SearchSpace, optional
        Its operators are allowed; those of the reading by default.

    Returns
    -------
    list of Expression
        The front, most accurate first.
    """
    if field.latents is None:
        raise ValueError("The field has no values of its latent; extract it from a network.")
    counted = field.weights > 0
    points, latents = field.points[counted], field.latents[counted, 0]
    return regress(points, latents, field.names, space or SearchSpace(), seconds=seconds, seed=seed)


def regress(
    points: ArrayLike,
    values: ArrayLike,
    names: Sequence[str],
    space: SearchSpace,
    *,
    seconds: float,
    seed: int,
    evaluations: int = 1_000_000_000,
) -> list[Expression]:
    """Fit formulas to values.

    Parameters
    ----------
    points : array-like, shape (n_points, n_inputs)
        At most 500 are used, drawn by the seed.
    values : array-like, shape (n_points,)
    names : sequence of str
    space : SearchSpace
        Only its operators count.
    seconds : float
        By the clock, rounded up to whole ones.
    seed : int
    evaluations : int
        Formulas that are judged at most.

    Returns
    -------
    list of Expression
        The front of accuracy and length, most accurate first.

    Raises
    ------
    OperonMissingError
        If pyoperon is not installed.

    Examples
    --------
    >>> from closedform.searching.evolution.operon import is_available
    >>> points = np.random.default_rng(0).uniform(1, 2, (200, 1))
    >>> not is_available() or len(
    ...     regress(points, points[:, 0], ["x"], SearchSpace(), seconds=1, seed=0)
    ... ) > 0
    True
    """
    load()
    from pyoperon.sklearn import SymbolicRegressor

    array, target = np.asarray(points, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(array) > MOST_POINTS:
        chosen = np.random.default_rng(seed).choice(len(array), MOST_POINTS, replace=False)
        array, target = array[chosen], target[chosen]
    regressor = SymbolicRegressor(
        allowed_symbols=",".join([*_symbols(space), "constant", "variable"]),
        objectives=["r2", "length"],
        population_size=POPULATION,
        generations=1_000_000,
        max_evaluations=evaluations,
        optimizer_iterations=LOCAL_ITERATIONS,
        local_search_probability=LOCAL_SHARE,
        max_length=MAX_LENGTH,
        max_time=ceil(seconds),
        epsilon=1e-9,
        random_state=seed,
    ).fit(array, target)
    front = sorted(regressor.pareto_front_, key=lambda solution: solution["mean_squared_error"])
    texts = [
        regressor.get_model_string(solution["tree"], DIGITS, list(names))
        for solution in front
        if solution["variables"]
    ]
    return [
        parse(text.replace("^", "**"), list(names))
        for text in texts
        if "nan" not in text and "inf" not in text
    ]


def _symbols(space: SearchSpace) -> list[str]:
    """The operators that pyoperon has, as its regressor calls them."""
    return [
        str(OPERATORS[name].operon).lower()
        for name in space.operator_names
        if OPERATORS[name].operon
    ]
