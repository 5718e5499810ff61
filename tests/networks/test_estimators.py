from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from closedform.errors import ExtractionError, NeuronError
from closedform.networks.extract import extract_samples
from closedform.networks.function_source import log_odds_of

POINTS = np.random.default_rng(0).normal(size=(150, 2))
TWO = (POINTS[:, 0] + POINTS[:, 1] > 0).astype(int)
THREE = TWO + (POINTS[:, 0] > 1)


def extracted(model: Any, neuron: Any) -> Any:
    return extract_samples(model, POINTS, neuron, max_points=40, rng=0)


def test_regressors_through_predict() -> None:
    linear = extracted(LinearRegression().fit(POINTS, POINTS @ [2.0, -3.0]), 0)
    pipeline = extracted(
        make_pipeline(StandardScaler(), LinearRegression()).fit(POINTS, POINTS @ [2.0, -3.0]),
        "predict:0",
    )
    fitted: Any = GaussianProcessRegressor(RBF(2.0), alpha=1e-6, optimizer=None)  # pyright: ignore[reportArgumentType]
    process = extracted(fitted.fit(POINTS, (POINTS**2).sum(axis=1)), 0)

    np.testing.assert_allclose(
        linear.jacobians, np.broadcast_to([2.0, -3.0], (40, 1, 2)), atol=1e-8
    )
    np.testing.assert_allclose(
        pipeline.jacobians, np.broadcast_to([2.0, -3.0], (40, 1, 2)), atol=1e-8
    )
    assert np.median(np.abs(process.jacobians[:, 0] - 2 * process.points)) < 0.1


@pytest.mark.parametrize("neuron", ["output:1", "decision_function:1", "predict_proba:1"])
def test_a_classifier_of_two_classes_by_any_of_its_methods(neuron: str) -> None:
    model = LogisticRegression().fit(POINTS, TWO)

    samples = extracted(model, neuron)

    np.testing.assert_allclose(
        samples.jacobians, np.broadcast_to(model.coef_, (40, 1, 2)), rtol=1e-6
    )


def test_a_classifier_of_three_classes_gives_log_odds() -> None:
    model = LogisticRegression().fit(POINTS, THREE)

    samples = extracted(model, ":1")

    scores = model.decision_function(samples.points)
    weights = np.exp(scores[:, [0, 2]] - scores[:, [0, 2]].max(axis=1, keepdims=True))
    shares = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        samples.jacobians[:, 0], model.coef_[1] - shares @ model.coef_[[0, 2]], rtol=1e-6, atol=1e-6
    )
    assert any("log-odds" in note for note in samples.notes)


def test_other_methods_by_name() -> None:
    pca: Any = PCA(2).fit(POINTS)

    np.testing.assert_allclose(
        extracted(pca, "transform:1").jacobians[0, 0], pca.components_[1], atol=1e-8
    )
    np.testing.assert_allclose(extracted(pca, ":0").jacobians[0, 0], pca.components_[0], atol=1e-8)
    assert extracted(SVC().fit(POINTS, TWO), ":1").jacobians.shape == (40, 1, 2)
    assert extracted(GaussianNB().fit(POINTS, TWO), ":1").jacobians.shape == (40, 1, 2)


def test_methods_that_do_not_exist_are_listed() -> None:
    with pytest.raises(NeuronError, match="did you mean 'predict'"):
        extracted(LinearRegression().fit(POINTS, TWO), "predct:0")


def test_class_names_are_no_numbers() -> None:
    model = LogisticRegression().fit(POINTS, np.where(TWO > 0, "yes", "no"))

    with pytest.raises(ValueError, match="not numbers"):
        extracted(model, "predict:0")


def test_log_odds_near_certainty_do_not_cancel() -> None:
    found = log_odds_of(np.array([[1.0, 1e-30, 1e-40]]))

    np.testing.assert_allclose(found[0, :2], [np.log(1e30), np.log(1e-30)], rtol=1e-9)


def test_trees_are_told_what_they_are() -> None:
    """They were advised to train longer; they have no gradient at all."""
    points = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    trees = GradientBoostingRegressor(n_estimators=3).fit(points, points.sum(axis=1))
    pipeline = make_pipeline(StandardScaler(), trees)
    pipeline.fit(points, points.sum(axis=1))
    for model in (trees, pipeline):
        with pytest.raises(ExtractionError, match="piecewise constant"):
            extract_samples(model, points, "predict")


def test_an_estimator_that_was_fitted_with_a_table_does_not_warn() -> None:
    """It warned with each of thousands of calls; warnings are errors here."""
    table = pd.DataFrame(POINTS, columns=["a", "b"])
    model = LinearRegression().fit(table, POINTS.sum(axis=1))
    samples = extract_samples(model, table, "predict")
    assert samples.names == ("a", "b")
