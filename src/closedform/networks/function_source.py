"""Gradients of any function of an array, by finite differences with an estimate of their error."""

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExtractionError, NeuronError
from closedform.field.tangent_space import robust_spread
from closedform.networks.neuron import Neuron, unknown_layer
from closedform.networks.options import Options, arguments, as_inputs, fill, transformed
from closedform.networks.picking import check_values, entry_of, pick
from closedform.networks.rows import Key, Rows, own_copy
from closedform.networks.samples import PROBED, VARIES, Samples, Source
from closedform.networks.tolerances import ROUGH


class FunctionSource(Source):
    """A function or an estimator, of an array of points or of one point."""

    def __init__(
        self, model: Any, rows: Rows, neurons: tuple[Neuron, ...], options: Options
    ) -> None:
        super().__init__(model, rows.as_arrays(), neurons, options)
        self._spread = robust_spread(self.points)
        if options.step is None:
            check_smooth(model)
        self._methods = [self._method(neuron) for neuron in neurons]
        self._batched = options.batched if options.batched is not None else self._takes_many()
        # The step that balances truncation of fourth order against rounding.
        self._precision = float(np.finfo(self._values(self.points[:1], np.arange(1)).dtype).eps)
        self._step = options.step if options.step is not None else self._precision**0.2
        places = np.arange(min(PROBED, len(self.points)))
        first, second = (self._values(self.points[places], places) for _ in range(2))
        if not np.allclose(first, second, rtol=16 * self._precision, atol=0, equal_nan=True):
            self._note(VARIES)

    def evaluate(self, points: FloatArray) -> Samples:
        """Latents and Jacobians at points that belong, row by row, to the chosen ones."""
        samples = super().evaluate(points)
        assert samples.errors is not None
        self._judge(samples.jacobians, samples.errors)
        return replace(samples, notes=tuple(self._notes))

    def values(self, points: FloatArray) -> FloatArray:
        """Latents alone, without the steps that a derivative takes."""
        return np.concatenate(
            self._passes(points, lambda all_, places: self._values(all_[places], places))
        )

    def _judge(self, jacobians: FloatArray, errors: FloatArray) -> None:
        size = np.linalg.norm(jacobians * self._spread, axis=2)
        usable = np.isfinite(size) & (size > 0)
        if not usable.any():
            return
        share = float(
            np.median(np.linalg.norm(errors * self._spread, axis=2)[usable] / size[usable])
        )
        self._note(
            f"Gradients are finite differences; their median error is about {share:.0e} of "
            f"the gradient."
        )
        if share > ROUGH:
            self._note(
                f"The function is not smooth at the scale of the step; try step= with a value "
                f"above {self._step:.1g}."
            )

    def _differentiate(
        self, points: FloatArray, places: np.ndarray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Central differences at two steps, extrapolated; how far they differ is the error."""
        here = points[places]
        latents = self._values(here, places).astype(np.float64)
        shape = (len(places), latents.shape[1], here.shape[1])
        jacobians, errors = np.empty(shape), np.empty(shape)
        for column in range(here.shape[1]):
            step = self._step * self._spread[column]
            wide = self._slope(here, places, column, step)
            narrow = self._slope(here, places, column, step / 2)
            jacobians[:, :, column] = (4 * narrow - wide) / 3
            rounding = 4 * self._precision * np.abs(latents) / step
            errors[:, :, column] = np.abs(narrow - wide) / 3 + rounding
        return latents, jacobians, errors

    def _slope(self, here: FloatArray, places: np.ndarray, column: int, step: float) -> FloatArray:
        right, left = here.copy(), here.copy()
        right[:, column] += step
        left[:, column] -= step
        rise = self._values(right, places).astype(np.float64) - self._values(left, places).astype(
            np.float64
        )
        return rise / (right[:, column] - left[:, column])[:, None]

    def _values(self, points: FloatArray, places: np.ndarray) -> np.ndarray:
        """Values of all neurons at points, shape (n_points, n_latents)."""
        parts = self._parts(points, places)
        if self._batched:
            return self._call(parts, len(points))
        return np.concatenate(
            [
                self._call({key: part[row] for key, part in parts.items()}, None)
                for row in range(len(points))
            ]
        )

    def _parts(self, points: FloatArray, places: np.ndarray) -> dict[Key, Any]:
        return fill(
            {key: part[places] for key, part in self._rows.parts.items()},
            points,
            self._blocks,
            _write,
        )

    def _call(self, parts: dict[Key, Any], count: int | None) -> np.ndarray:
        """Values for a batch, or for one point if there is no count."""
        # Every function gets copies: one that works in place would otherwise move the points
        # between two evaluations.
        transform = self._options.transform
        if transform is not None and not callable(transform):  # a scaler of scikit-learn
            scale = transform.transform
            transform = scale if count is not None else lambda point: scale(point[None])[0]
        parts = transformed(transform, own_copy(parts))
        given = parts | self._fixed(count or 1)
        outputs: dict[str | None, Any] = {}
        columns = []
        for neuron, method in zip(self._neurons, self._methods, strict=True):
            if neuron.whole_model and neuron.function is not None:
                value = neuron.function(self._model, as_inputs(own_copy(given)))
            else:
                if method not in outputs:
                    positional, named = arguments(own_copy(given))
                    outputs[method] = (
                        self._model(*positional, **named)
                        if method is None
                        else call_method(self._model, method, positional[0])
                    )
                value = self._taken(neuron, own_copy(outputs[method]), count)
            columns.append(_two_axes(neuron, value, count or 1))
        return np.concatenate(columns, axis=1)

    def _taken(self, neuron: Neuron, output: Any, count: int | None) -> np.ndarray:
        array, sentence = entry_of(neuron, np.asarray(output) if np.isscalar(output) else output)
        self._note(sentence)
        array = np.asarray(array)
        array = array[None] if count is None else array
        if count is not None and array.shape[:1] != (count,):
            raise NeuronError(
                f"{neuron}: the output has shape {array.shape} for {count} points; the "
                f"first axis must count the points."
            )
        return pick(neuron, array, lambda direction, like: direction)

    def _method(self, neuron: Neuron) -> str | None:
        if neuron.whole_model:
            return None
        if is_estimator(self._model):
            method = method_of(self._model, neuron)
            self._note(method_note(method, neuron))
            return method
        if not callable(self._model):
            if isinstance(self._model, str | PathLike):
                raise ExtractionError(
                    f"{str(self._model)!r} is text, not a network. If it is a file, pass "
                    "closedform.load_network(path)."
                )
            raise ExtractionError(
                f"A {type(self._model).__name__} is neither a network, nor a function, nor an "
                "estimator with a method such as predict. Pass one of these."
            )
        if neuron.layer not in ("", "output"):
            raise unknown_layer(neuron, ())
        return None

    def _takes_many(self) -> bool:
        """Whether the function takes many points, tried with another number than that of inputs."""
        if is_estimator(self._model):
            return True
        count = 2 if self.points.shape[1] != 2 else 3
        places = np.arange(count) % len(self.points)
        try:
            self._call(self._parts(self.points[places], places), count)
        except Exception as error:  # a function of one point may raise anything here
            return self._takes_one(error)
        return True

    def _takes_one(self, many: Exception) -> bool:
        parts = self._parts(self.points[:1], np.arange(1))
        try:
            self._call({key: part[0] for key, part in parts.items()}, None)
        except Exception:  # neither form works: the error for many points is the one to show
            raise many from None
        self._note("The function takes one point at a time.")
        return False


def _write(part: np.ndarray, index: tuple[Any, ...], values: np.ndarray) -> np.ndarray:
    written = np.array(part, dtype=np.float64)
    written[index] = values
    return written


def _two_axes(neuron: Neuron, value: Any, count: int) -> np.ndarray:
    # A masked value is one that is not known, as in `GradientField.from_arrays`.
    array = np.ma.filled(value, np.nan) if np.ma.is_masked(value) else np.asarray(value)
    array = array.reshape(1) if array.ndim == 0 and count == 1 else array
    check_values(neuron, array, count)
    array = array if array.dtype.kind == "f" else array.astype(np.float64)
    return array if array.ndim == 2 else array[:, None]


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
