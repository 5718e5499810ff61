"""Pages for programs that help people: ``llms.txt`` and a skill file, made from the docs and the
interface.

``python docs/machine_pages.py`` writes both; a test compares them with what the docs say now.
"""

import inspect
import re
from pathlib import Path

import closedform as cf
from closedform.interpretation.verdict import STATUSES

HERE = Path(__file__).parent
TARGET = HERE / "_machines"
CALLS = ("interpret", "extract_field", "interpret_field", "verify", "same_concept")
"""The five calls that answer nearly every question."""

SKIPPED = ("changelog", "contributing", "security", "cite")
"""Pages about the project rather than its use."""

MEANINGS = {
    "verified": "the network computes an invertible function of this formula, on held-out points",
    "ambiguous": "the formula and `answer.verdict.alternatives` fit as well as anything found; the "
    "truth may be another",
    "approximate": "the network follows the formula, and a check failed; the reasons say which",
    "none": "no closed form was found; the formula shown is the closest candidate, not an answer",
}

MISTAKES = (
    "Quoting the formula of a `none`: it is the closest candidate. Say that nothing was found, and "
    "what `answer.next_steps` suggests.",
    "Leaving out units of measured inputs: pass `units={'m': 'kg', 'v': 'm/s'}`.",
    "Passing standardised inputs: pass the raw ones, and the scaler as `transform=`, so that the "
    "formula is in physical units.",
    "Reading a network of 50 or more raw inputs (pixels, tokens): pass the few quantities behind "
    "them, and how inputs are made from them as `transform=`; if they are alike (spins, sensors), "
    "declare them with `groups=`.",
    "Reading one-hot columns: hold them with `wrt=[...]`.",
    "Reading forests or boosted trees: they have no gradient.",
    "Expecting the scale or sign of the neuron: a concept is known up to an invertible function.",
    "Calling a formula different because it looks different: ask `answer.same_as(formula)`, or "
    "`cf.same_concept(a, b)` for any two.",
)


def titles() -> list[tuple[str, str, str]]:
    """Path, title and first sentence of each page."""
    found = []
    for file in sorted(HERE.glob("*.md")) + sorted((HERE / "guides").glob("*.md")):
        path = file.relative_to(HERE).with_suffix("").as_posix()
        if path in SKIPPED or path == "index":
            continue
        text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        heading = re.search(r"^# (.+)$", text, re.MULTILINE)
        # A first sentence may be broken into several lines.
        plain = re.search(r"^(?![#\s|\-:<{(\[>.])(.+(?:\n.+)*)$", text, re.MULTILINE)
        if heading is None:
            continue
        said = "" if plain is None else re.split(r"(?<=[.?!:])\s", plain[1])[0].rstrip(":")
        said = said.replace("\n", " ")
        found.append((path, heading[1], re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", said)))
    return found


def call_line(name: str) -> str:
    """A call with the keywords that it takes, and what it does."""
    function = getattr(cf, name)
    parameters = inspect.signature(function).parameters.values()
    shown = [
        parameter.name
        if parameter.default is parameter.empty
        else f"{parameter.name}={parameter.default!r}"
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and not parameter.name.startswith("_")
    ]
    doc = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    return f"- `cf.{name}({', '.join(shown)})`: {doc}"


def llms_text() -> str:
    """The map of the docs."""
    pages = [f"- [{title}]({path}.html): {said}" for path, title, said in titles()]
    return "\n".join(
        [
            "# closedform",
            "",
            "> Reads the closed-form formula that a neuron of a trained network encodes, up to an "
            "invertible function, and says how sure it is.",
            "",
            "## Calls",
            "",
            *map(call_line, CALLS),
            "",
            "## Verdicts",
            "",
            *verdict_lines(),
            "",
            "## Pages",
            "",
            *pages,
            "",
        ]
    )


def verdict_lines() -> list[str]:
    """What each status means."""
    return [f"- `{status}`: {MEANINGS[status]}." for status in STATUSES]


def skill_text() -> str:
    """What a program needs to know to help a person."""
    return "\n".join(
        [
            "---",
            "name: closedform",
            "description: Read closed-form formulas out of trained neural networks with the Python "
            "package closedform, and judge how sure they are.",
            "---",
            "",
            "# closedform",
            "",
            "Use it when someone has a trained network (PyTorch, JAX, scikit-learn, any function "
            "of an array) and asks what a neuron has learned, or has gradients of an unknown "
            "function.",
            "",
            "```python",
            "import closedform as cf",
            "",
            'answer = cf.interpret(model, inputs, "layer:0", names=["x", "v"], budget=60, rng=0)',
            "print(answer)  # the formula, the verdict, and its reasons",
            "answer.verdict.status, str(answer.concept), answer.front, answer.next_steps",
            'answer.save("answer.json")',
            'answer.report("answer.html")',
            "```",
            "",
            "## The five calls",
            "",
            *map(call_line, CALLS),
            "",
            "## What verdicts mean",
            "",
            *verdict_lines(),
            "",
            "## Common mistakes",
            "",
            *(f"- {mistake}" for mistake in MISTAKES),
            "",
        ]
    )


FILES = {"llms.txt": llms_text, "SKILL.md": skill_text}
"""Each file, and what makes it."""


def write() -> None:
    """Write both files."""
    TARGET.mkdir(exist_ok=True)
    for name, make in FILES.items():
        (TARGET / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    write()
