"""ConceptSearch: the search with the conventions of scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from closedform.arrays import FloatArray
from closedform.basics.keywords import checked_keywords
from closedform.basics.progress import ProgressLike
from closedform.basics.randomness import Randomness
from closedform.errors import ConceptError, FieldError, ShapeError
from closedform.expressions.expression import Expression
from closedform.expressions.units import UnitsLike
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint
from closedform.field.tangent_space import TangentSpace
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import rounded_formula
from closedform.interpretation.evidence import FrontEntry
from closedform.judge.rules import RuleLike
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.space import SearchSpace, as_space

if TYPE_CHECKING:
    import sympy

ROUNDED = 1e-9
"""Means and deviations that a scaler has made 0 and 1 are so up to rounding."""


class ConceptSearch(BaseEstimator):
    """Search for a closed-form function whose gradients point the same way as the given ones.

    Parameters
    ----------
    engine : str or Engine
        'auto', 'structure', 'terms', 'evolution', the name of another installed engine, or an
        engine object.
    budget : float or Budget
        Seconds after compilation, or a `Budget`. A budget of evaluations gives the same result for
        the same seed.
    operators : sequence of str, optional
        Operators that may occur, by name; those of `space` by default.
    max_complexity : int, optional
        Largest complexity in `equations_`; that of `space` by default.
    space : SearchSpace, optional
        Everything else that is known about the answer.
    tangent : {'auto', 'none', 'linear', 'local', 'constraints'} or TangentSpace
        The data's tangent space; see `GradientField.from_arrays`.
    constraints : sequence of str, Expression or callable
        Functions that are constant on the data, such as ``"x**2 + y**2 = 1"``.
    rule : optional
        How the concept is chosen; see `closedform.select`.
    units : mapping of str to str, or Units, optional
        The unit of each input; see `closedform.Units`.
    standardized : bool
        True if the gradients belong to standardised points (all columns with mean 0 and standard
        deviation 1); the formula is then in these numbers. By default such points are refused: they
        usually come from a StandardScaler in a Pipeline, while the gradients belong to the raw
        inputs.
    progress : bool, str, Progress or None
        None shows progress in a terminal or notebook, False never.
    random_state : int, Generator, RandomState or None
        Seed.

    Attributes
    ----------
    equations_ : DataFrame
        The front in canonical form, simplest first: complexity, misalignment (mean over regions,
        each judged with constants fitted without it), score (drop of the logarithm of the
        misalignment for each unit of complexity since the row above), expression with all digits,
        and sympy, whose constants end where their errors begin.
    concept_ : Expression or None
        The formula that the rule chooses, in canonical form; None if the search found nothing.
    interpretation_ : Interpretation
        The answer of `closedform.interpret_field`, with verdict and evidence.
    field_ : GradientField
        What was searched, with its quality.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if there were any.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    >>> gradients = points[:, ::-1] * np.exp(points.prod(axis=1))[:, None]
    >>> search = cf.ConceptSearch(
    ...     engine="terms", budget=cf.Budget(evaluations=2000), random_state=0
    ... )
    >>> search.fit(points, gradients, feature_names=["x", "y"]).sympy()
    x*y
    >>> search.predict([[2.0, 3.0]])
    array([6.])
    """

    @checked_keywords
    def __init__(
        self,
        engine: str | Engine = "auto",
        *,
        budget: float | Budget = 60.0,
        operators: Sequence[str] | None = None,
        max_complexity: int | None = None,
        space: SearchSpace | None = None,
        tangent: str | TangentSpace = "auto",
        constraints: Sequence[StatedConstraint] = (),
        rule: RuleLike = "evidence",
        units: UnitsLike | None = None,
        standardized: bool = False,
        progress: ProgressLike = None,
        random_state: Any = None,
    ) -> None:
        self.engine = engine
        self.budget = budget
        self.operators = operators
        self.max_complexity = max_complexity
        self.space = space
        self.tangent = tangent
        self.constraints = constraints
        self.rule = rule
        self.units = units
        self.standardized = standardized
        self.progress = progress
        self.random_state = random_state

    @checked_keywords
    def fit(
        self, points: Any, gradients: ArrayLike, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Search.

        Parameters
        ----------
        points : array_like or DataFrame, shape (n_points, n_inputs)
            A table's columns name the inputs.
        gradients : array_like, shape (n_points, n_inputs) or (n_points, n_latents, n_inputs)
            Gradients of one latent, or Jacobians of several, in whose span the concept's gradient
            then lies.
        feature_names : sequence of str, optional
            Names of the inputs, instead of a table's.

        Returns
        -------
        ConceptSearch
            Itself.

        Raises
        ------
        ShapeError
            If the shapes do not fit each other.
        FieldError
            If the points or names are unusable.
        EngineError, SpaceError, BudgetError
            If the estimator's parameters are unusable.
        """
        space, seed = self._space(), self._seed()
        names = _column_names(points) if feature_names is None else list(feature_names)
        array = check_array(points, dtype="float64", input_name="points")
        _refuse_standardized(array, self.standardized)
        if isinstance(gradients, np.ndarray) and gradients.dtype.kind == "O":
            # Estimators of scikit-learn take numbers that are stored as objects.
            gradients = gradients.astype(np.float64)
        self.field_ = GradientField.from_arrays(
            array, gradients, names=names, tangent=self.tangent, constraints=self.constraints,
            units=self.units,
        )  # fmt: skip
        self.n_features_in_ = array.shape[1]
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.interpretation_: Interpretation = interpret_field(
            self.field_, engine=self.engine, budget=self.budget, rng=seed, space=space,
            rule=self.rule, progress=self.progress,
        )  # fmt: skip
        self.concept_ = self.interpretation_.concept
        parts = self.interpretation_.parts or (self.interpretation_,)
        self.equations_ = _table([entry for part in parts for entry in part.front])
        return self

    def predict(self, points: Any) -> FloatArray:
        """Values of `concept_`, which are those of the latent up to an unknown function of one
        variable.

        Parameters
        ----------
        points : array_like or DataFrame, shape (n_points, n_inputs)
            A table needs the columns that the estimator was fitted with, in the same order.

        Returns
        -------
        ndarray, shape (n_points,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ConceptError
            If the search found nothing.
        ShapeError
            If the points have other inputs than those of the fit.
        """
        concept = self._found()
        return concept(self._checked(points))

    def score(self, points: Any, gradients: ArrayLike) -> float:
        """How well `concept_` follows gradients: 1 for the same directions everywhere, 0 for
        chance.

        Parameters
        ----------
        points : array_like or DataFrame, shape (n_points, n_inputs)
        gradients : array_like, shape (n_points, n_inputs) or (n_points, n_latents, n_inputs)

        Returns
        -------
        float
            1 minus the misalignment relative to chance.
        """
        concept = self._found()
        array = self._checked(points)
        names = list(self.field_.names)
        field = GradientField.from_arrays(array, gradients, names=names, tangent="none")
        chance = 1 - field.rank / field.tangent.rank
        misalignment = np.average(field_misalignment(concept, field), weights=field.weights)
        return float(1 - misalignment / chance) if chance > 0 else 0.0

    def sympy(self) -> "sympy.Expr":
        """`concept_` as a SymPy expression."""
        return self._found().sympy()

    def latex(self) -> str:
        """`concept_` as LaTeX source, without dollar signs."""
        return self._found().latex()

    def _checked(self, points: Any) -> FloatArray:
        """Points with the inputs of the fit."""
        names = _column_names(points)
        if (
            names is not None
            and hasattr(self, "feature_names_in_")
            and names != list(self.feature_names_in_)
        ):
            raise ShapeError(
                f"The columns are {names}; pass the columns used in fit, in the same order: "
                f"{list(self.feature_names_in_)}."
            )
        array = check_array(points, dtype="float64", input_name="points")
        n_inputs = self.n_features_in_
        if array.shape[1] != n_inputs:  # the first half is what scikit-learn's own estimators say
            what = (
                f"X has {array.shape[1]} features, but {type(self).__name__} is expecting "
                f"{n_inputs} features as input"
            )
            raise ShapeError(f"{what}; pass points of shape (n_points, {n_inputs}).")
        return array

    def _found(self) -> Expression:
        check_is_fitted(self)
        if self.concept_ is None:
            status = self.interpretation_.provenance.status
            raise ConceptError(
                f"The search found no concept (status {status!r}); look at field_.quality or "
                f"widen the space."
            )
        return self.concept_

    def _space(self) -> SearchSpace:
        given = {"operators": self.operators, "max_complexity": self.max_complexity}
        space = as_space(self.space)
        return replace(space, **{name: value for name, value in given.items() if value is not None})

    def _seed(self) -> Randomness:
        seed = self.random_state
        return int(seed.randint(2**31)) if isinstance(seed, np.random.RandomState) else seed


def _refuse_standardized(points: FloatArray, is_meant: bool) -> None:
    """Refuse points that a scaler has been at, while gradients and formula are those before it."""
    if is_meant or len(points) < 3 or points.shape[1] < 2:
        return
    means, deviations = points.mean(axis=0), points.std(axis=0)
    if np.abs(means).max() < ROUNDED and np.abs(deviations - 1).max() < ROUNDED:
        raise FieldError(
            "Every column of the points has mean 0 and standard deviation 1, as after a "
            "StandardScaler in a Pipeline. If the gradients belong to the raw inputs, pass the raw "
            "points: the search scales them itself, and a formula of scaled numbers would be "
            "wrong. If they belong to the scaled points, use ConceptSearch(standardized=True)."
        )


def _column_names(points: Any) -> list[str] | None:
    """A table's columns; None for arrays and for columns without names."""
    columns: list[Any] = list(getattr(points, "columns", ()))
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _scores(entries: Sequence[FrontEntry]) -> list[float]:
    """Drop of log misalignment for each added unit of complexity, 0 for the simplest."""
    logs = np.log([max(entry.regional, PERFECT) for entry in entries])
    sizes = np.asarray([entry.complexity for entry in entries])
    return [0.0, *(-np.diff(logs) / np.maximum(np.diff(sizes), 1)).tolist()] if len(entries) else []


def _table(entries: Sequence[FrontEntry]) -> pd.DataFrame:
    from closedform.expressions.sympy_bridge import to_plain_sympy

    # To look at, constants end where their errors begin; `expression` has all digits.
    looks = [to_plain_sympy(rounded_formula(one.expression, one.errors)) for one in entries]
    table = {
        "complexity": [entry.complexity for entry in entries],
        "misalignment": [entry.regional for entry in entries],
        "score": _scores(entries),
        "expression": [entry.expression for entry in entries],
        "sympy": looks,
    }
    kinds = {"complexity": np.int64, "misalignment": np.float64, "score": np.float64}
    return pd.DataFrame(table, dtype=object).astype(kinds)
