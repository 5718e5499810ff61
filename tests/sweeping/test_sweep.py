"""Sweeps: what is read, what is not read twice, and what is left of a run that was interrupted."""

import json
import random
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.errors import StorageError
from closedform.sweeping import planning
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import Limits
from closedform.sweeping.layer_extraction import load_inputs
from closedform.sweeping.neuron_task import finished

POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 2))
EFFORT = cf.Effort(terms=200, evaluations=0)


def layer(points):
    """Three concepts, functions of them, and two dead neurons."""
    x, v = points.T
    first, second = x**2 + v, x * v
    columns = [
        first,
        np.exp(first),
        0 * x,
        second,
        -(second**3) - second,
        x + 3 * v,
        np.maximum(x - 9, 0.0),
        -2 * first,
    ]
    return np.stack(columns, axis=1)


def run(path, model=layer, **options):
    given = {"names": ["x", "v"], "effort": EFFORT, "kind": "function", "store": path}
    return cf.sweep(model, POINTS, "output", **(given | options))


def records_of(path):
    return {record["neuron"]: record for _, record in ResultStore(path).records()}


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "store"
    return path, run(path)


def test_every_neuron_has_a_record(finished_store):
    path, found = finished_store
    records = records_of(path)
    assert found.counts == {
        "neurons": 8,
        "before": 0,
        "verified": 6,
        "ambiguous": 0,
        "approximate": 0,
        "none": 2,
        "failed": 0,
    }
    assert [records[f"output:{n}"]["status"] for n in range(8)] == [
        *("done", "same", "dead", "done"),
        *("same", "done", "dead", "same"),
    ]
    concepts = [records[f"output:{n}"]["concept"] for n in range(8)]
    assert concepts[:6] == ["v + x**2", "v + x**2", None, "v*x", "v*x", "3*v + x"]
    assert records["output:7"]["same_as"] == "output:0"
    assert "zero at 100%" in records["output:2"]["reason"]


def test_a_record_is_what_the_field_alone_gives(finished_store):
    record = records_of(finished_store[0])["output:3"]
    inputs = cf.extract_field(
        layer, POINTS, "output:3", names=["x", "v"], kind="function", max_points=2000
    )
    alone = cf.interpret_field(inputs, engine="terms", budget=cf.Budget(evaluations=200), rng=0)
    assert alone.alignment is not None
    assert (record["concept"], record["verdict"]) == (str(alone.concept), alone.verdict.status)
    assert record["misalignment"] == alone.alignment.misalignment
    assert record["front"] == [
        [e.complexity, e.misalignment, str(e.expression)] for e in alone.front
    ]
    assert finished(record, 0.0)["digest"] == record["digest"]


def test_the_table_with_conditions(finished_store):
    _, found = finished_store
    few = found.table("verdict == 'verified' and complexity < 4")
    assert sorted(few["neuron"]) == ["output:3", "output:4"]
    assert list(found.table().columns[:4]) == ["neuron", "status", "verdict", "concept"]
    assert "8 neurons" in str(found)


def test_a_pool_gives_the_same_store(finished_store, tmp_path):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run(tmp_path, executor=pool)
    expected = {key: record["digest"] for key, record in ResultStore(finished_store[0]).records()}
    assert {key: record["digest"] for key, record in ResultStore(tmp_path).records()} == expected


@pytest.fixture
def stub(monkeypatch, tmp_path):
    """Read neurons in no time, and note which; a file can make some of them fail."""
    (tmp_path / "modules").mkdir()
    notes, failing = tmp_path / "notes", tmp_path / "failing"
    text = f"""
from pathlib import Path
from closedform.sweeping.neuron_task import finished

def read(payload):
    with open({str(notes)!r}, "a") as file:
        file.write(payload["neuron"] + "\\n")
    failing = Path({str(failing)!r})
    if failing.exists() and payload["neuron"] in failing.read_text().split():
        raise ValueError("told to fail")
    record = {{"neuron": payload["neuron"], "field": payload["checksum"]}}
    record |= {{"status": "done", "verdict": "verified"}}
    return finished(record, 0.0)
"""
    (tmp_path / "modules" / "stub_reading.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.setattr(planning, "FUNCTION", "stub_reading:read")

    def read():
        found = notes.read_text().split() if notes.exists() else []
        notes.write_text("")
        return found

    yield read, failing
    sys.modules.pop("stub_reading", None)


def test_what_is_done_is_not_done_again(stub, tmp_path):
    read, _ = stub
    run(tmp_path / "s")
    assert read() == ["output:0", "output:3", "output:5"]
    assert run(tmp_path / "s").counts["before"] == 8
    assert read() == []
    found = run(
        tmp_path / "s", model=lambda points: np.concatenate([layer(points), points**3], axis=1)
    )
    assert (found.counts["before"], read()) == (8, ["output:8", "output:9"])


def test_other_effort_or_seed_is_other_work(stub, tmp_path):
    read, _ = stub
    run(tmp_path / "s", neurons=range(1))
    run(tmp_path / "s", neurons=range(1), effort=cf.Effort(terms=201, evaluations=0))
    run(tmp_path / "s", neurons=range(1), rng=1)
    assert read() == ["output:0"] * 3


def test_a_hundred_damaged_files_are_done_again(stub, tmp_path):
    read, _ = stub

    def wide(points):
        return np.stack([np.cos(points @ np.array([1.0, 0.01 * n])) for n in range(150)], axis=1)

    run(tmp_path / "s", model=wide)
    before = {key: record["digest"] for key, record in ResultStore(tmp_path / "s").records()}
    assert len(read()) == 150
    chosen = random.Random(0).sample(sorted((tmp_path / "s").glob("results/*/*.json")), 100)
    for place, file in enumerate(chosen):
        content = file.read_bytes()
        file.write_bytes([content[:50], b"", b"#" * len(content), content[:-2]][place % 4])
    names = {before_key for before_key in before if before_key in {file.stem for file in chosen}}
    found = run(tmp_path / "s", model=wide)
    assert (found.counts["before"], len(read()), len(names)) == (50, 100, 100)
    assert {
        key: record["digest"] for key, record in ResultStore(tmp_path / "s").records()
    } == before


def test_a_store_with_results_is_used_only_if_asked(stub, tmp_path):
    run(tmp_path / "s", neurons=range(2))
    with pytest.raises(StorageError, match="holds 2 results"):
        run(tmp_path / "s", resume=False)
    run(tmp_path / "other", neurons=range(2), resume=False)


def test_failures_stay_unless_they_are_tried_again(stub, tmp_path):
    read, failing = stub
    failing.write_text("output:0")
    found = run(tmp_path / "s", limits=Limits(attempts=2))
    assert found.counts["failed"] == 3  # with the two that are like it
    record = records_of(tmp_path / "s")["output:0"]
    assert (record["status"], record["attempts"]) == ("failed", 2)
    assert "told to fail" in record["reason"]
    assert read() == ["output:0", "output:0", "output:3", "output:5"]
    failing.unlink()
    assert run(tmp_path / "s").counts["before"] == 8
    assert read() == []
    found = run(tmp_path / "s", retry_failed=True)
    assert (found.counts["before"], found.counts["failed"], read()) == (5, 0, ["output:0"])
    assert records_of(tmp_path / "s")["output:7"]["status"] == "same"


def test_likeness_reaches_over_blocks_and_runs(stub, tmp_path, monkeypatch):
    read, _ = stub
    monkeypatch.setattr(planning, "BLOCK", 3)
    run(tmp_path / "s", neurons=range(4))
    assert read() == ["output:0", "output:3"]
    run(tmp_path / "s")
    assert read() == ["output:5"]
    assert records_of(tmp_path / "s")["output:7"]["same_as"] == "output:0"


def test_fields_can_be_dropped(stub, tmp_path):
    run(tmp_path / "kept")
    run(tmp_path / "dropped", keep_fields=False)
    assert list((tmp_path / "kept" / "fields").iterdir())
    assert not list((tmp_path / "dropped" / "fields").iterdir())
    assert records_of(tmp_path / "kept").keys() == records_of(tmp_path / "dropped").keys()


def test_tasks_carry_references_and_not_fields(stub, tmp_path, monkeypatch):
    sizes = []
    make = planning.Task

    def weighed(*arguments, **options):
        sizes.append(len(json.dumps(arguments[2])))
        return make(*arguments, **options)

    monkeypatch.setattr(planning, "Task", weighed)
    run(tmp_path / "s")
    assert max(sizes) < 1000
    field = max((tmp_path / "s" / "fields").iterdir(), key=lambda file: file.stat().st_size)
    assert field.stat().st_size == 8 * 300 * 3 * 8


def test_compaction_changes_nothing(stub, tmp_path):
    read, _ = stub
    run(tmp_path / "s")
    before = records_of(tmp_path / "s")
    ResultStore(tmp_path / "s").compact()
    read()
    assert run(tmp_path / "s").counts["before"] == 8
    assert (read(), records_of(tmp_path / "s")) == ([], before)


def test_a_store_in_memory_needs_no_disk(stub):
    found = run("memory://sweep-test")
    assert len(found.table()) == 8
    assert not Path("memory:").exists()


def other_layer(points):
    return layer(points) + points[:, :1] ** 3


def test_a_second_network_in_a_store_is_its_own(tmp_path):
    first, second = run(tmp_path, neurons=[0]), run(tmp_path, other_layer, neurons=[0])
    assert first.network != second.network
    assert first.data == second.data
    assert [len(each.table()) for each in (first, second)] == [1, 1]
    assert first.table()["concept"].tolist() == ["v + x**2"]
    assert [reading.label for reading in first.readings()] == ["output:0"]
    assert len(first.families()) <= 1
    assert ResultStore(tmp_path).check().sound == {key for key, _ in first.store.records()}
    with pytest.raises(StorageError, match="several networks"):
        cf.compare(str(tmp_path), str(tmp_path))
    assert {record["network"] for _, record in first.store.records()} == {
        first.network,
        second.network,
    }


def test_the_same_network_on_more_neurons_is_one(tmp_path):
    first, second = run(tmp_path, neurons=[0]), run(tmp_path, neurons=[3])
    assert first.network == second.network
    assert second.table()["neuron"].tolist() == ["output:0", "output:3"]


def test_a_deleted_store_is_no_failure_of_a_neuron(tmp_path):
    """Its files are gone before the second neuron is read; the next run reads it."""
    store = tmp_path / "store"

    class Deleting:
        def update(self, tally):
            if tally.done == 1:
                shutil.rmtree(store / "inputs")
                load_inputs.cache_clear()

        def close(self):
            pass

    found = run(store, neurons=[0, 3], watcher=Deleting())
    assert found.counts["failed"] == 1
    assert [record["status"] for _, record in ResultStore(store).records()] == ["done"]
    assert run(store, neurons=[0, 3]).counts["verified"] == 1


def test_a_store_that_is_gone_ends_the_run(tmp_path, monkeypatch):
    def delete(*_):
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        return {"fault": "StorageError: gone", "is_of_store": True}

    monkeypatch.setattr("closedform.sweeping.execution.workers.answer", delete)
    with pytest.raises(StorageError, match="is gone"):
        run(tmp_path / "store", neurons=[0])
