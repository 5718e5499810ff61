"""Every public function refuses a misspelt keyword and a wrong value before it starts, and names
the nearest right one.
"""

import inspect
import time
from typing import Any

import numpy as np
import pytest

import closedform
from closedform.basics.keywords import KeywordError
from closedform.searching.front import Front

cf: Any = closedform  # wrong calls are the point

POINTS = np.random.default_rng(0).uniform(1, 2, (200, 2))
FIELD = cf.GradientField.from_arrays(POINTS, POINTS[:, ::-1], names=["x", "y"])
RESULT = cf.SearchResult(Front(), "finished", digest=FIELD.digest())


def network(x):
    return x[:, 0] * x[:, 1]


def sampler(n, rng):
    return rng.uniform(size=(n, 2, 2))


CALLS = {
    "interpret": lambda **k: cf.interpret(network, POINTS, 0, **{"names": ["x", "y"], **k}),
    "interpret_field": lambda **k: cf.interpret_field(FIELD, **k),
    "interpret_fields": lambda **k: cf.interpret_fields([FIELD], **k),
    "extract_field": lambda **k: cf.extract_field(network, POINTS, 0, **k),
    "search": lambda **k: cf.search(FIELD, **k),
    "select": lambda **k: cf.select(RESULT, FIELD, **k),
    "verify": lambda **k: cf.verify("x*y", FIELD, **k),
    "sweep": lambda **k: cf.sweep(network, POINTS, "output", **{"store": "memory://keywords", **k}),
    "discover": lambda **k: cf.discover(sampler, **k),
    "contest": lambda **k: cf.contest(network, POINTS, 0, {"product": "x*y"}, **k),
    "contest_field": lambda **k: cf.contest_field(FIELD, {"product": "x*y"}, **k),
    "symmetries": lambda **k: cf.symmetries(FIELD, **k),
    "Group": lambda **k: cf.Group(range(4), **k),
    "conserved": lambda **k: cf.conserved(POINTS, POINTS, **k),
    "compare": lambda **k: cf.compare(network, network, POINTS, "output", **k),
    "same_concept": lambda **k: cf.same_concept("x", "2*x", **k),
    "parse": lambda **k: cf.parse("x", **k),
    "load_field": lambda **k: cf.load_field("field.npz", **k),
    "load_interpretation": lambda **k: cf.load_interpretation("answer.json", **k),
    "load_network": lambda **k: cf.load_network("net.onnx", **k),
    "Budget": lambda **k: cf.Budget(**k),
    "Operator": lambda **k: cf.Operator("logistic", **{"value": "1/(1 + exp(-a))", **k}),
    "SearchSpace": lambda **k: cf.SearchSpace(**k),
    "Thresholds": lambda **k: cf.Thresholds(**k),
    "Units": lambda **k: cf.Units({"x": "m"}, **k),
    "Effort": lambda **k: cf.Effort(**k),
    "ConceptSearch": lambda **k: cf.ConceptSearch(**k),
    "ConceptSearch.fit": lambda **k: cf.ConceptSearch().fit(POINTS, POINTS, **k),
    "GradientField.from_arrays": lambda **k: cf.GradientField.from_arrays(POINTS, POINTS, **k),
}
MADE_BY_US = {
    "Discovery", "Equivalence", "Expression", "GradientField", "Interpretation", "SearchResult",
    "Selection", "Sweep", "Law", "Laws", "Contest", "Generator", "Symmetries",
    "Verdict", "ClosedformError", "ClosedformWarning",
}  # fmt: skip
"""Results and errors, which nobody calls with keywords."""

MISSPELT = {
    "interpret": ("hypotesis", "hypothesis"), "interpret_field": ("bugdet", "budget"),
    "interpret_fields": ("engin", "engine"),
    "extract_field": ("smothing", "smoothing"), "search": ("spaces", "space"),
    "select": ("rules", "rule"),
    "verify": ("rival", "rivals"), "sweep": ("resumes", "resume"),
    "contest": ("fre", "free"), "contest_field": ("givn", "given"),
    "symmetries": ("group", "groups"), "Group": ("neighbors", "neighbours"),
    "discover": ("trainings", "training"), "conserved": ("trajectory", "trajectories"),
    "compare": ("smothing", "smoothing"), "Units": ("constant", "constants"),
    "same_concept": ("domian", "domain"), "parse": ("name", "names"), "load_field": ("pth", "path"),
    "load_interpretation": ("pth", "path"), "load_network": ("truts", "trust"),
    "Budget": ("second", "seconds"),
    "SearchSpace": ("operatrs", "operators"),
    "Operator": ("slope", "slopes"),
    "Thresholds": ("confidense", "confidence"),
    "Effort": ("evaluation", "evaluations"),
    "ConceptSearch": ("enginee", "engine"),
    "ConceptSearch.fit": ("feature_name", "feature_names"),
    "GradientField.from_arrays": ("latent", "latents"),
}  # fmt: skip


def test_every_public_function_is_here():
    public = {name for name in cf.__all__ if callable(getattr(cf, name))}
    assert public - MADE_BY_US == {name for name in CALLS if "." not in name}
    assert CALLS.keys() == MISSPELT.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_misspelt_keyword_is_refused_at_once(name):
    wrong, right = MISSPELT[name]
    began = time.process_time()
    with pytest.raises(KeywordError, match=f"did you mean '{right}'"):
        CALLS[name](**{wrong: 1})
    # The first access imports; nothing is trained or searched.
    assert time.process_time() - began < 5


@pytest.mark.parametrize("name", CALLS)
def test_signatures_stay_readable(name):
    function = getattr(cf, name) if "." not in name else None
    if function is not None:
        assert len(inspect.signature(function).parameters) > 0


COMMON = [
    ({"engine": "term"}, "did you mean 'terms'"),
    ({"engine": 3}, "auto, terms, evolution"),
    ({"budget": "ten"}, "pass seconds"),
    ({"budget": -1}, "must be positive"),
    ({"budget": float("nan")}, "must be positive"),
    ({"rng": -1}, "0 or larger"),
    ({"rng": "seed"}, "pass a seed"),
    ({"progress": "tabel"}, "did you mean 'table'"),
    ({"space": {"operators": ["add"]}}, "closedform.SearchSpace"),
]
READING = [
    *COMMON,
    ({"rule": "steepest_dorp"}, "did you mean 'steepest_drop'"),
    ({"rule": 0}, "There is no rule"),
    ({"hypothesis": "x +"}, "ends"),
    ({"hypothesis": "z"}, "z"),
    ({"hypothesis": "x/0"}, "not finite at any"),
    ({"thresholds": 0.02}, "closedform.Thresholds"),
    ({"checks": ["points"]}, "is not a check"),
]
NETWORK = [
    ({"tangent": "lokal"}, "did you mean 'local'"),
    ({"precision": "duoble"}, "double"),
    ({"kind": "troch"}, "torch"),
]
WRONG = {
    "interpret": [*READING, *NETWORK],
    "interpret_field": READING,
    "interpret_fields": READING,
    "extract_field": [*NETWORK, ({"rng": -1}, "0 or larger")],
    "search": COMMON,
    "select": [({"rule": "evidense"}, "did you mean 'evidence'"), ({"rng": 1.5}, "pass a seed")],
    "verify": [
        *COMMON,
        ({"rivals": "atuo"}, "did you mean 'auto'"),
        ({"rivals": ["x +"]}, "ends"),
        ({"rule": "best"}, "no rule"),
    ],
    "sweep": [({"rng": -1}, "0 or larger"), ({"tangent": "lokal"}, "did you mean 'local'")],
    "discover": [
        ({"how": "grwo"}, "did you mean 'grow'"),
        ({"rng": -1}, "0 or larger"),
        ({"engine": "term"}, "terms"),
    ],
    "same_concept": [({"domain": "wide"}, "domain")],
    "Budget": [({"seconds": 0}, "positive"), ({}, "needs a limit")],
    "Operator": [
        ({"value": "sine(a)"}, "unknown word 'sine'"),
        ({"slopes": "a"}, "its value changes by"),
    ],
    "SearchSpace": [({"operators": ["sine"]}, "did you mean 'sin'")],
    "Effort": [({"terms": -1}, "positive")],
    "ConceptSearch.fit": [],
    "GradientField.from_arrays": [
        ({"tangent": "lokal"}, "did you mean 'local'"),
        ({"names": ["x"]}, "Names are"),
    ],
}


@pytest.mark.parametrize(
    ("name", "keywords", "said"), [(n, k, s) for n, rows in WRONG.items() for k, s in rows]
)
def test_a_wrong_value_is_refused_at_once(name, keywords, said, monkeypatch):
    monkeypatch.setattr("closedform.searching.portfolio.Portfolio.search", _must_not_run)
    with pytest.raises((cf.ClosedformError, ValueError, TypeError), match=said):
        CALLS[name](**keywords)


def _must_not_run(*_args, **_options):
    raise AssertionError("The search has begun.")


def test_numpys_integers_are_seeds():
    budget = cf.Budget(evaluations=200)
    found = [
        cf.interpret_field(FIELD, engine="terms", budget=budget, rng=seed).concept
        for seed in (3, np.int64(3))
    ]
    assert found[0] == found[1]


def test_progress_may_be_asked_for_with_true(capsys):
    cf.interpret_field(
        FIELD, engine="terms", budget=cf.Budget(evaluations=200), rng=0, progress=True
    )
    assert "search" in capsys.readouterr().err
