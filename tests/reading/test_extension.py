import pickle

import numpy as np
import pytest

import closedform as cf
from closedform.basics.keywords import KeywordError
from closedform.reading.one_field import ExtensionError
from closedform.reading.settings import read_with_seeds

FEW = cf.Budget(evaluations=600)


@pytest.fixture(scope="module")
def field() -> cf.GradientField:
    points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    return cf.GradientField.from_arrays(
        points, points[:, ::-1], latents=points.prod(axis=1), names=["x", "y"]
    )


@pytest.fixture(scope="module")
def answer(field) -> cf.Interpretation:
    return cf.interpret_field(field, engine="terms", budget=FEW, rng=0)


def test_an_answer_goes_on_where_its_search_ended(answer, field, monkeypatch) -> None:
    asked = {}
    original = cf.interpret_field

    def watched(searched, **keywords):
        asked.update(keywords, field=searched)
        return original(searched, **keywords)

    monkeypatch.setattr("closedform.reading.one_field.interpret_field", watched)
    longer = answer.extend(FEW)
    assert asked["field"] is field
    assert asked["engine"] == "terms"
    assert set(asked["space"].guesses) == {entry.expression for entry in answer.front}
    assert longer.provenance.evaluations > answer.provenance.evaluations
    assert str(longer.concept) == "x*y"


def test_a_loaded_answer_needs_its_field(answer, field, tmp_path) -> None:
    answer.save(tmp_path / "answer.json")
    loaded = cf.load_interpretation(tmp_path / "answer.json")
    assert loaded == answer
    with pytest.raises(ExtensionError, match="field="):
        loaded.extend(FEW)
    assert str(loaded.extend(FEW, field=field).concept) == "x*y"


def test_a_field_does_not_travel_with_the_answer(answer) -> None:
    assert answer.origin is not None
    assert pickle.loads(pickle.dumps(answer)).origin is None


def test_seeds_tell_how_many_agree(field) -> None:
    found = cf.interpret_field(field, engine="terms", budget=FEW, rng=0, seeds=2)
    assert found.seeds is not None
    assert (found.seeds.count, found.seeds.agree, found.seeds.share) == (2, 2, 1.0)
    assert "2 of 2 seeds lead to this answer." in str(found)


def test_seeds_that_disagree_are_counted(answer, field) -> None:
    from dataclasses import replace

    other = replace(answer, concept=cf.parse("x + y"), concepts=(cf.parse("x + y"),))
    answers = {0: other, 1: answer, 2: answer}
    found = read_with_seeds(field, 3, 0, answers.__getitem__)
    assert found.seeds is not None
    assert (str(found.concept), found.seeds.agree) == ("x*y", 2)
    with pytest.raises(KeywordError, match="seeds is 0"):
        cf.interpret_field(field, seeds=0)


def test_a_person_who_waits_is_told_while_it_compiles(field, monkeypatch) -> None:
    from closedform.reading import one_field

    class Watch:
        def __init__(self) -> None:
            self.steps: list[tuple[str, float]] = []

        def show(self, snapshot) -> None:
            self.steps.append((snapshot.step, snapshot.done))

        def close(self) -> None:
            pass

    watch = Watch()
    one_field.compile_all.cache_clear()
    cf.interpret_field(field, engine="terms", budget=FEW, rng=0, progress=watch)
    assert watch.steps[:4] == [("compile", share) for share in (0.0, 0.25, 0.5, 0.75)]
