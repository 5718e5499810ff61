"""Estimators in the style of scikit-learn: which of their methods is the neuron."""

from typing import Any

import numpy as np

from closedform.errors import ExtractionError
from closedform.networks.neuron import Neuron, unknown_layer

METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
"""Methods that can stand in a selector, such as ``"decision_function:0"``."""


def is_estimator(model: Any) -> bool:
    """Whether a model is used through methods rather than called."""
    return not callable(model) and any(hasattr(model, method) for method in METHODS)


_TREES = (
    "sklearn.tree", "sklearn.ensemble._forest", "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting", "sklearn.neighbors", "xgboost", "lightgbm",
    "catboost",
)  # fmt: skip
"""Modules of estimators that are piecewise constant."""


def check_smooth(model: Any) -> None:
    """Refuse an estimator whose values are piecewise constant: it has no gradient to read."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    members = np.ravel(np.asarray(getattr(last, "estimators_", ()), dtype=object))
    for one in (last, *members[:1]):
        if type(one).__module__.startswith(_TREES):
            raise ExtractionError(
                f"{type(last).__name__} is piecewise constant (decision trees or neighbours), so "
                f"that it has no gradient to read. Train a smooth model on its predictions, such "
                f"as scikit-learn's MLPRegressor, and read that; or pass step= to take differences "
                f"over wider steps."
            )


def method_of(model: Any, neuron: Neuron) -> str:
    """The method that a selector means; for the output of a classifier, one that is continuous."""
    known = [method for method in METHODS if hasattr(model, method)]
    if neuron.layer in known:
        return neuron.layer
    if neuron.layer not in ("", "output"):
        raise unknown_layer(neuron, known)
    if "decision_function" in known and len(getattr(model, "classes_", ())) == 2:
        return "decision_function"
    for method in ("predict_proba", "decision_function", "predict", "transform"):
        if method in known:
            return method
    return known[0]


def call_method(model: Any, method: str, inputs: Any) -> np.ndarray:
    """Values of a method, shape (n_points,) or (n_points, m); probabilities come as log-odds."""
    values = np.asarray(getattr(model, method)(_named(model, inputs)))
    if values.dtype.kind not in "fiu":
        raise ExtractionError(
            f"{method} returns {values.dtype}, not numbers; choose one that does, such as "
            f"'predict_proba:1'."
        )
    if method == "predict_proba" and values.ndim == 2:
        return log_odds_of(values)
    if (
        method == "decision_function"
        and values.ndim == 1
        and len(getattr(model, "classes_", ())) == 2
    ):
        # As probabilities do, the columns belong to the two classes.
        return np.stack([-values, values], axis=1)
    return values


def _named(model: Any, inputs: Any) -> Any:
    """A table for an estimator that was fitted with one, which else warns with every call."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not isinstance(inputs, np.ndarray) or inputs.shape[1:] != (len(names),):
        return inputs
    import pandas as pd

    return pd.DataFrame(inputs, columns=names)


def method_note(method: str, neuron: Neuron) -> str | None:
    """What was decided about a method."""
    if method == "predict_proba":
        return (
            f"{neuron}: the log-odds of the class probability were taken (the same concept, "
            f"without saturation)."
        )
    if neuron.layer in ("", "output") and method == "decision_function":
        return (
            f"{neuron}: the decision function was taken, which orders points as the class "
            f"probability does."
        )
    return None


def log_odds_of(probabilities: np.ndarray) -> np.ndarray:
    """log p_i - log of the sum of the others, which does not cancel where p_i is near 1."""
    classes = probabilities.shape[1]
    others = probabilities @ (np.ones((classes, classes)) - np.eye(classes))
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log(others)
