import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import closedform as cf
from closedform.errors import ConceptError, EngineError, FieldError, ShapeError, SpaceError
from closedform.expressions.expression import Expression
from closedform.expressions.tree import variable
from closedform.interpretation.evidence import FrontEntry
from closedform.reading.estimator import ConceptSearch, _scores
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace

BUDGET = Budget(evaluations=2000)


@dataclass(frozen=True)
class AnyInput:
    """An engine that needs no time: the first or the last input, by chance."""

    name: str = "any input"

    def search(self, field, space, budget, rng, progress):
        column = int(rng.choice([0, field.points.shape[1] - 1]))
        return SearchResult(
            Front.of([Candidate(Expression(variable(column), field.names), 0.5, 1, self.name)]),
            "finished",
        )


@dataclass(frozen=True)
class Nothing:
    name: str = "nothing"

    def search(self, field, space, budget, rng, progress):
        return SearchResult(Front(), "finished")


def copy_of(search: cf.ConceptSearch) -> cf.ConceptSearch:
    copy = clone(search)
    assert isinstance(copy, cf.ConceptSearch)
    return copy


class OfPoints(cf.ConceptSearch):
    """Takes points alone, as scikit-learn's checks pass them; the concept is the sum of squares."""

    def fit(self, X, y=None):  # type: ignore[override]
        return super().fit(X, X)

    def score(self, X, y=None):  # type: ignore[override]
        return super().score(X, X)


def energy(n_points=300):
    points = np.random.default_rng(0).uniform(-2, 2, (n_points, 2))
    slopes = np.stack([np.cos(points[:, 0]), points[:, 1]], axis=1)
    return points, slopes * np.random.default_rng(1).normal(size=(n_points, 1))


# The general checks all run; but they pass targets y of shape (n,), and this estimator fits
# gradients, (n, d) or (n, k, d). So they see a subclass that makes gradients of the points and
# leaves y alone. The checks of targets (multioutput, classes, nan in y) and those of classifiers,
# regressors and transformers do not apply, as it is none of them.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning"
)  # array API inputs, when SCIPY_ARRAY_API is not set
def test_scikit_learns_checks_pass():
    check_estimator(OfPoints(AnyInput(), tangent="none", random_state=0))


def test_parameters_are_stored_unchanged():
    space, operators = SearchSpace(max_degree=2), ["add", "mul"]
    search = cf.ConceptSearch(
        "terms",
        budget=BUDGET,
        operators=operators,
        space=space,
        constraints=("x + y",),
        random_state=3,
    )
    assert search.get_params()["operators"] is operators
    assert search.space is space
    copy = copy_of(search).set_params(budget=5.0)
    assert copy.get_params() == {**search.get_params(), "budget": 5.0}


def test_nothing_is_known_before_the_fit():
    search = cf.ConceptSearch()
    for call in (lambda: search.predict([[1.0, 2.0]]), search.sympy, search.latex):
        with pytest.raises(NotFittedError):
            call()


def test_a_table_names_the_inputs():
    points, gradients = energy()
    search = cf.ConceptSearch("terms", budget=BUDGET, random_state=0).fit(
        pd.DataFrame(points, columns=["x", "v"]), gradients
    )
    assert list(search.feature_names_in_) == ["x", "v"]
    assert search.n_features_in_ == 2
    table = search.equations_
    assert list(table.columns) == ["complexity", "misalignment", "score", "expression", "sympy"]
    assert table["complexity"].is_monotonic_increasing
    assert min(table["misalignment"]) < 1e-9
    assert search.concept_ is not None
    assert search.concept_ in list(table["expression"])
    assert cf.same_concept(search.concept_, "sin(x) + v**2/2", names=["x", "v"])
    assert search.sympy() == search.concept_.sympy()
    assert search.latex() == search.concept_.latex()
    assert np.array_equal(
        search.predict(pd.DataFrame(points, columns=["x", "v"])), search.concept_(points)
    )
    with pytest.raises(ShapeError, match="columns are"):
        search.predict(pd.DataFrame(points, columns=["v", "x"]))
    with pytest.raises(ShapeError, match="expecting 2 features"):
        search.predict(points[:, :1])


def test_the_same_seed_gives_the_same_table_also_after_pickling():
    points, gradients = energy()
    search = cf.ConceptSearch(budget=BUDGET, random_state=0).fit(
        points, gradients, feature_names=["x", "v"]
    )
    again = copy_of(pickle.loads(pickle.dumps(search))).fit(
        points, gradients, feature_names=["x", "v"]
    )
    pd.testing.assert_frame_equal(search.equations_, again.equations_)
    assert np.array_equal(pickle.loads(pickle.dumps(search)).predict(points), again.predict(points))


def test_names_do_not_outlive_the_next_fit():
    points, gradients = energy(50)
    search = cf.ConceptSearch(AnyInput(), random_state=0).fit(
        points, gradients, feature_names=["x", "v"]
    )
    assert not hasattr(search.fit(points, gradients), "feature_names_in_")
    assert not hasattr(search.fit(pd.DataFrame(points), gradients), "feature_names_in_")
    assert search.concept_ is not None
    assert search.concept_.names == ("x0", "x1")


def test_legacy_random_states_are_seeds():
    points, gradients = energy(50)
    fits = [
        cf.ConceptSearch(AnyInput(), random_state=np.random.RandomState(seed)).fit(
            points, gradients
        )
        for seed in [*range(4)] * 2
    ]
    found = [fit.interpretation_.front[0].expression for fit in fits]
    assert found[:4] == found[4:]
    assert len(set(found)) == 2


def test_operators_and_complexity_limit_the_search():
    points, gradients = energy()
    search = cf.ConceptSearch(
        "terms", budget=BUDGET, operators=["add", "mul"], max_complexity=9, random_state=0
    )
    table = search.fit(points, gradients).equations_
    assert max(table["complexity"]) <= 9
    assert not any("sin" in str(expression) for expression in table["expression"])
    with pytest.raises(SpaceError, match="did you mean 'sin'"):
        cf.ConceptSearch(operators=["sinn"]).fit(points, gradients)
    with pytest.raises(EngineError, match="did you mean 'terms'"):
        cf.ConceptSearch("term").fit(points, gradients)


def test_several_latents():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    jacobian = np.zeros((300, 2, 3))
    jacobian[:, 0, 0], jacobian[:, 1] = 1.0, points[:, [0, 2, 1]]
    mixed = np.random.default_rng(1).normal(size=(300, 2, 2)) @ jacobian
    search = cf.ConceptSearch("terms", budget=BUDGET, random_state=0).fit(
        points, mixed, feature_names=["x", "y", "z"]
    )
    assert search.field_.rank == 2
    assert min(search.equations_["misalignment"]) < 1e-9


def test_finding_nothing_is_no_error_until_the_concept_is_asked_for():
    search = cf.ConceptSearch(Nothing()).fit(*energy(50))
    assert search.concept_ is None
    assert len(search.equations_) == 0
    with pytest.raises(ConceptError, match="found no concept"):
        search.predict([[1.0, 2.0]])


def test_scores_are_drops_for_each_added_complexity():
    texts = [
        ("x", 0.5, 1),
        ("x + y", 0.5 / np.e**4, 3),
        ("x*y + y", 1e-11, 5),
        ("x*y + sin(y)", 1e-12, 9),
    ]
    scores = _scores(
        [FrontEntry(cf.parse(text, ["x", "y"]), c, m, m, m, regional=m) for text, m, c in texts]
    )
    assert scores[:2] == [0.0, pytest.approx(2.0)]
    assert scores[3] == 0.0


def test_score_is_one_for_the_truth_and_near_zero_for_noise():
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 2, (300, 2))
    gradients = points[:, ::-1]
    search = ConceptSearch(engine="terms", budget=Budget(evaluations=500), random_state=0)
    search.fit(points, gradients)
    assert search.score(points, gradients) == pytest.approx(1.0, abs=1e-9)
    assert abs(search.score(points, rng.normal(size=(300, 2)))) < 0.2


def test_a_scaler_in_front_is_refused_rather_than_read_wrongly():
    """In a Pipeline the points are scaled and the gradients are not."""
    points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    gradients = points[:, ::-1]
    search = ConceptSearch(AnyInput(), random_state=0)
    with pytest.raises(FieldError, match="StandardScaler in a Pipeline"):
        make_pipeline(StandardScaler(), search).fit(points, gradients)
    scaled = StandardScaler().fit_transform(points)
    search.set_params(standardized=True).fit(scaled, gradients)
