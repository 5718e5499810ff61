"""Names, titles and notes from outside: saved and loaded exactly, and shown escaped wherever a
person reads them.
"""

import json
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.errors import DamagedFileError, ExpressionError, StorageError
from closedform.expressions.expression import Expression
from closedform.field.findings import Finding
from closedform.networks.model_files import load_inputs
from closedform.report.html import fragment
from closedform.sweeping.execution.store import ResultStore

EVIL = "v\r\nverified: FAKE\x1b]0;t\x07\u202e\u200b"
ESCAPED = r"v\r\nverified: FAKE\x1b]0;t\x07\u202e\u200b"
PAIRS = [
    ("r²", "v 1"),
    ("sin", "x'"),
    ("β", "日本"),
    ('a"b', "c:\\d"),
    ("<script>alert(1)</script>", "\\input{a}"),
    ("$x$", "#%&_{}"),
]
_OWN_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def is_clean(text: str) -> bool:
    """Whether lines and our own colours are all that a terminal obeys, and no line of the text is
    forged.
    """
    lines = _OWN_STYLE.sub("", text).split("\n")
    return all(line.isprintable() for line in lines) and not any(
        line.startswith("verified: FAKE") for line in lines
    )


def make_field(names=("x", "y")):
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    return cf.GradientField.from_arrays(points, 2 * points, names=names)


def read(field, **options):
    return cf.interpret_field(
        field, engine="terms", budget=cf.Budget(evaluations=2_000), rng=0, **options
    )


@pytest.fixture(scope="module")
def answer():
    """An answer whose every text from outside is evil."""
    found = read(make_field(), title=EVIL, command=EVIL)
    check = replace(found.verdict.checks[0], text=EVIL)
    verdict = replace(found.verdict, sentence=EVIL, checks=(check,))
    finding = Finding("evil", "info", EVIL)
    quality = replace(found.field_quality, findings=(finding,))
    return replace(found, verdict=verdict, choice_reason=EVIL, field_quality=quality)


@pytest.fixture(scope="module")
def evil_file(tmp_path_factory):
    """A field whose header says that an input is called something that no field would take."""
    path = tmp_path_factory.mktemp("evil") / "field.npz"
    make_field().save(path)
    return rewritten(path, lambda header: header | {"names": ["x", EVIL]})


def rewritten(path, change):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = change(json.loads(arrays.pop("header").tobytes()))
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with zipfile.ZipFile(path, "w") as target:
        for name, array in arrays.items():
            with target.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], prog_name="closedform")


@pytest.mark.parametrize("names", PAIRS)
def test_answers_and_fields_with_such_names_are_loaded_as_they_were_saved(names, tmp_path):
    """Names such as r² were saved, and the file could not be loaded."""
    field = make_field(names)
    field.save(tmp_path / "field.npz")
    assert cf.load_field(tmp_path / "field.npz").names == names
    found = read(field)
    found.save(tmp_path / "answer.json")
    loaded = cf.load_interpretation(tmp_path / "answer.json")
    assert loaded == found
    assert cf.parse(str(loaded.concept), names=names) == found.concept
    assert is_clean(str(found))
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    assert "<script>alert" not in found._repr_html_()


def test_an_answer_with_extreme_constants_is_loaded_as_it_was_saved(tmp_path):
    """Constants that print as 1e-600 were saved, and the file could not be loaded."""
    found = read(make_field())
    extreme = cf.parse("1e-300/1e300*x + 5e-324*y**2 + y/3e299 + 1e-300/7*x", names=["x", "y"])
    found = replace(found, concept=extreme, concepts=(extreme,))
    found.save(tmp_path / "answer.json")
    assert cf.load_interpretation(tmp_path / "answer.json") == found


def test_names_are_refused_at_every_door(tmp_path, evil_file):
    with pytest.raises(ExpressionError, match="cannot be named") as caught:
        make_field(("x", EVIL))
    messages = [str(caught.value)]
    with pytest.raises(DamagedFileError, match="cannot be named") as caught:
        cf.load_field(evil_file)
    messages.append(str(caught.value))
    np.savez(tmp_path / "data.npz", inputs=np.zeros((3, 2)), names=["x", EVIL])
    with pytest.raises(DamagedFileError, match="cannot be named") as caught:
        load_inputs(tmp_path / "data.npz")
    messages.append(str(caught.value))
    read(make_field()).save(tmp_path / "answer.json")
    content = json.loads((tmp_path / "answer.json").read_text())
    (tmp_path / "answer.json").write_text(json.dumps(content | {"names": ["x", EVIL]}))
    with pytest.raises(StorageError, match="cannot be named") as caught:
        cf.load_interpretation(tmp_path / "answer.json")
    messages.append(str(caught.value))
    (tmp_path / "answer.json").write_text(json.dumps(content | {"names": ["x", "x"]}))
    with pytest.raises(StorageError, match="'x' occurs 2 times"):
        cf.load_interpretation(tmp_path / "answer.json")
    for message in messages:
        assert message.isprintable()
        assert r"verified: FAKE\x1b" in message


def test_names_in_bytes_are_read_as_text(tmp_path):
    np.savez(tmp_path / "data.npz", inputs=np.zeros((3, 2)), names=np.array(["r²".encode(), b"v"]))
    assert load_inputs(tmp_path / "data.npz")[1] == ("r²", "v")


def test_print_and_repr_are_escaped(answer):
    for text in (str(answer), repr(answer), str(answer.verdict), str(answer.field_quality)):
        assert is_clean(text)
    assert ESCAPED in str(answer)
    assert is_clean(repr(Expression(answer.concept.tree, ("r²", "v 1"))))


def test_json_is_escaped_and_loses_nothing(answer, tmp_path):
    answer.save(tmp_path / "answer.json")
    text = (tmp_path / "answer.json").read_text()
    assert text.isascii()
    assert is_clean(text)
    assert cf.load_interpretation(tmp_path / "answer.json") == answer


def test_page_and_notebook_are_escaped(answer, tmp_path):
    answer.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for text in (page, fragment(answer)):
        assert ESCAPED in text
        assert is_clean(text)


def test_latex_sets_names_as_text():
    names = ["\\input{a}", "#%&_{}$^~", "a_b", "x%"]
    latex = cf.parse("`\\input{a}` + `#%&_{}$^~` + a_b + `x%`", names=names).latex()
    assert r"\text{\textbackslash{}input\{a\}}" in latex
    assert r"\text{\#\%\&\_\{\}\$\textasciicircum{}\textasciitilde{}}" in latex
    assert r"\input" not in latex
    assert re.search(r"(?<!\\)[%#$&]", latex) is None


def test_underscores_of_a_name_do_not_become_a_power_in_latex():
    assert cf.parse("a__b + x_").latex() == r"\text{a\_\_b} + \text{x\_}"
    assert cf.parse("x_1").latex() == "x_{1}"


def test_sympy_takes_names_as_symbols_only():
    form = cf.parse("`__import__('os').system('true')` + 1").sympy()
    assert {str(symbol) for symbol in form.free_symbols} == {"__import__('os').system('true')"}


def test_the_terminal_gets_nothing_to_obey(answer, evil_file, tmp_path):
    refused = run("interpret", evil_file)
    assert isinstance(refused.exception, DamagedFileError)
    assert str(refused.exception).isprintable()
    for arguments in (
        ["interpret", tmp_path / f"a{EVIL}.npz"],
        [f"do{EVIL}"],
        ["same", "x", "y", f"--x{EVIL}"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert r"\x1b]0;t\x07" in result.output
        assert is_clean(result.output)


def test_interpret_shows_notes_of_a_file_escaped(tmp_path):
    path = tmp_path / "evil\x1b[2J.npz"
    make_field(("r²", "v 1")).save(path)
    for options in ((), ("--json",)):
        result = run("interpret", path, "--engine", "terms", "--budget", 3, *options)
        assert result.exit_code in (0, 1)
        assert is_clean(result.stdout)
    page = tmp_path / "page\x1b.html"
    result = run(
        "interpret",
        path,
        "--engine",
        "terms",
        "--budget",
        3,
        "--out",
        tmp_path / "a.json",
        "--report",
        page,
    )
    assert r"evil\x1b[2J" in page.read_text()
    again = run("report", tmp_path / "a.json", "--out", page)
    assert again.stdout == f"{tmp_path}/page\\x1b.html\n"


def test_same_shows_names_escaped():
    result = run("same", "`r²`", "`r²`*`v\x1b`")
    assert isinstance(result.exception, ExpressionError)
    assert str(result.exception).isprintable()
    result = run("same", "`r²`", "`r²`*`v 1`")
    assert result.exit_code == 1
    assert is_clean(result.output)


def test_results_of_a_sweep_are_shown_escaped(tmp_path):
    store = ResultStore(str(tmp_path / "store"))
    record = {
        "neuron": EVIL,
        "status": "done",
        "verdict": EVIL,
        "concept": EVIL,
        "complexity": 3,
        "misalignment": 0.1,
    }
    store.put("evil", record)
    table, lines = run("results", tmp_path / "store"), run("results", tmp_path / "store", "--json")
    assert table.exit_code == lines.exit_code == 0
    assert ESCAPED in table.stdout
    assert is_clean(table.stdout)
    assert is_clean(lines.stdout)
    assert json.loads(lines.stdout)["neuron"] == EVIL


def test_layers_shows_names_of_modules_escaped(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from closedform.networks import model_files

    model = torch.nn.Sequential()
    model.add_module("a\x1b[2J\r\nverified: FAKE", torch.nn.Linear(2, 2))
    monkeypatch.setattr(
        model_files, "load_network", lambda *_, **__: model_files.LoadedModel(model)
    )
    result = run("layers", tmp_path / f"net{EVIL}.pt2")
    assert result.exit_code == 0
    assert r"a\x1b[2J\r\nverified: FAKE" in result.stdout
    assert is_clean(result.output)


def test_doctor_shows_engines_escaped(monkeypatch):
    from closedform.cli import doctor_command
    from closedform.searching import engine as registry

    monkeypatch.setattr(registry, "engine_names", lambda: ["terms", EVIL])
    monkeypatch.setattr(doctor_command, "version", lambda name: f"1.0{EVIL}")
    monkeypatch.setattr(doctor_command, "_self_test", lambda: (True, 0.0, 0.0))
    result = run("doctor")
    assert ESCAPED in result.stdout
    assert is_clean(result.stdout)


def test_progress_is_escaped():
    import io

    from closedform.basics.progress import Live, ProgressTable, Snapshot
    from closedform.sweeping.execution.coordinator import Tally, counts

    for kind in (Live, ProgressTable):
        stream = io.StringIO()
        progress = kind(stream)
        progress.show(Snapshot(EVIL, 0.5, 3.0, (("4", f"1.0e-03  x\x1b]0;t\x07{EVIL}"),), 12_000.0))
        progress.close()
        # tqdm draws its line again from the start, by a carriage return and by going up.
        drawn = stream.getvalue().replace("\r", "\n").replace("\x1b[A", "")
        assert r"\x1b]0;t\x07" in drawn
        assert is_clean(drawn)
    tally = Tally(total=1)
    tally.add(EVIL)
    assert is_clean(counts(tally))


def test_logs_are_escaped(caplog):
    from closedform.sweeping.execution.coordinator import Coordinator, Tally
    from closedform.sweeping.execution.task import Limits, Task
    from closedform.sweeping.execution.workers import open_workers

    workers = open_workers()
    task = Task("evil", "builtins:int", {"value": EVIL}, {"neuron": EVIL})
    store = ResultStore("memory://outside-text-logs")
    try:
        Coordinator(workers, store, Limits(attempts=1), Tally(1)).run([task])
    finally:
        workers.close()
    (record,) = caplog.records
    assert ESCAPED in record.getMessage()
    assert record.getMessage().isprintable()
