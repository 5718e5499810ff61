"""The notebooks of the gallery show the right formulas, and their code fits the package. Run by
hand, they run as they are, and what they read today is what they show: ``pytest
tests/examples/test_notebooks.py -m slow``.
"""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import closedform as cf
from closedform.networks.options import Options

EXAMPLES = Path(__file__).parents[2] / "examples"
CONCEPTS = {
    "01_siamese": ["v**2/2 - cos(x)"],
    "02_autoencoder": ["k/m"],
    "03_classifier": ["v**2/2 - 1/r"],
    "04_hidden_neuron": ["v*d/nu"],
    "05_physics_informed": ["x/sqrt(t)"],
    "06_two_latents": ["A11 + A22", "A11*A22 - A12*A21"],
    "07_sparse_autoencoder": ["x**2 + y**2 + 0.08*w*z"],
    "08_jax": ["E**2 - p**2"],
    "11_fine_tuning": ["v**2 + 2.7*x**2"],
}
"""What each network should have learned, the last one with the admixture that its notebook shows.
The notebooks do not know.
"""

OPTIONS = inspect.signature(Options).parameters
"""What is passed on to whatever reads the network."""

TOLERANCES = {"07_sparse_autoencoder": 5e-3, "11_fine_tuning": 5e-3}
"""Misalignment to the truth where a number is fitted."""


PRINTED = {
    "09_planets": ("x*v - y*u", "GM = 39."),
    "10_neural_ode": ("x**2 + v**2", "drift: -"),
    "12_ising": ("sum(s[i])**2", "verified"),
}
"""Notebooks on laws of a motion and on spins, and what they print: they take half a minute or
more."""


def test_every_notebook_is_tested():
    assert sorted(file.stem for file in EXAMPLES.glob("*.ipynb")) == sorted([*CONCEPTS, *PRINTED])


def test_every_notebook_shows_the_truth() -> None:
    for name, truths in CONCEPTS.items():
        check_formulas(answer_of(read(name)), name, truths)


@pytest.mark.parametrize("name", [*CONCEPTS, *PRINTED])
def test_the_code_of_a_notebook_fits_the_package(name: str) -> None:
    cells = [cell.source for cell in read(name).cells if cell.cell_type == "code"]
    tree = ast.parse("\n".join(cells))
    ours: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            ours |= {
                alias.asname or alias.name: importlib.import_module(alias.name)
                for alias in node.names
                if alias.name.split(".")[0] == "closedform"
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("closedform"):
            module = importlib.import_module(node.module or "")
            ours |= {
                alias.asname or alias.name: getattr(module, alias.name) for alias in node.names
            }
    called = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := named(node.func, ours)) is not None:
            called += 1
            taken = inspect.signature(function).parameters
            known = {*taken, *OPTIONS} if "options" in taken else {*taken}
            assert {word.arg for word in node.keywords} <= known, ast.unparse(node)
    assert called


def named(node: ast.expr, ours: dict[str, Any]) -> Any:
    """What a name stands for, if it is one of the package's."""
    if isinstance(node, ast.Name):
        return ours.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = named(node.value, ours)
        return getattr(owner, node.attr) if isinstance(owner, ModuleType | type) else None
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_a_notebook_prints_what_it_should(name: str, tmp_path: Path) -> None:
    if name == "09_planets":
        pytest.importorskip("jplephem")
        pytest.importorskip("skyfield_data")
    notebook = read(name)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )
    assert all(text in printed for text in PRINTED[name]), printed


@pytest.mark.slow
@pytest.mark.parametrize("name", CONCEPTS)
def test_a_notebook_reads_the_right_formula(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another number of threads sums in another order, and a training that amplifies it ends with
    # another network.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = read(name)
    shown = answer_of(notebook)
    NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    today = answer_of(notebook)
    for text in (shown, today):
        check_formulas(text, name, CONCEPTS[name])
    status = [
        line.partition(":")[0]
        for line in shown.splitlines()
        if line.startswith(("verified", "approximate", "none"))
    ]
    assert f"\n{status[0]}:" in today
    outputs = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr"
    ]
    assert not [output for output in outputs if not is_progress(output["text"])]


def read(name: str) -> Any:
    """A notebook of the gallery."""
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def check_formulas(text: str, name: str, truths: list[str]) -> None:
    """Each truth is among the formulas with which an answer begins."""
    formulas = text.splitlines()[: len(truths)]
    tolerance = TOLERANCES.get(name, 0.0)
    for truth in truths:
        assert any(is_same(formula, truth, tolerance) for formula in formulas), text


def is_progress(text: str) -> bool:
    """Whether a text is a line that is drawn again and again, or the end of one."""
    return all(not line or line.startswith("\r") for line in text.split("\n"))


def answer_of(notebook: Any) -> str:
    """What the cell with the tag 'answer' printed."""
    (cell,) = (cell for cell in notebook.cells if "answer" in cell.metadata.get("tags", []))
    return "".join(output["text"] for output in cell.outputs if output.get("name") == "stdout")


def is_same(formula: str, truth: str, tolerance: float) -> bool:
    names = sorted({*cf.parse(formula).names, *cf.parse(truth).names})
    positive = dict.fromkeys(names, (0.5, 2.0)) if "/" in truth else None
    answer = cf.same_concept(formula, truth, names, domain=positive)
    return bool(answer) or answer.misalignment < tolerance
