"""The notebooks of the gallery run as they are, and what they read today is what they show."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import closedform as cf

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

BY_HAND = {name for name in CONCEPTS if name != "01_siamese"}
"""Notebooks whose kinds of networks have tests of their own; the one that takes least is run
always.
"""

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


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_a_notebook_prints_what_it_should(name: str, tmp_path: Path) -> None:
    if name == "09_planets":
        pytest.importorskip("jplephem")
        pytest.importorskip("skyfield_data")
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
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


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in BY_HAND else name for name in CONCEPTS],
)
def test_a_notebook_reads_the_right_formula(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another number of threads sums in another order, and a training that amplifies it ends with
    # another network.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    shown = answer_of(notebook)
    NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    today = answer_of(notebook)
    for text in (shown, today):
        formulas = text.splitlines()[: len(CONCEPTS[name])]
        tolerance = TOLERANCES.get(name, 0.0)
        for truth in CONCEPTS[name]:
            assert any(is_same(formula, truth, tolerance) for formula in formulas), text
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
