import os
import subprocess
import sys

import closedform as cf


def test_public_names_are_pinned():
    assert cf.__all__ == [
        "Budget",
        "ClosedformError",
        "ClosedformWarning",
        "ConceptSearch",
        "Contest",
        "Discovery",
        "Effort",
        "Equivalence",
        "Expression",
        "Generator",
        "GradientField",
        "Group",
        "Interpretation",
        "Law",
        "Laws",
        "Operator",
        "SearchResult",
        "SearchSpace",
        "Selection",
        "Sweep",
        "Symmetries",
        "Thresholds",
        "Units",
        "Verdict",
        "__version__",
        "compare",
        "conserved",
        "contest",
        "contest_field",
        "discover",
        "extract_field",
        "interpret",
        "interpret_field",
        "interpret_fields",
        "load_field",
        "load_interpretation",
        "load_network",
        "parse",
        "same_concept",
        "search",
        "select",
        "sweep",
        "symmetries",
        "verify",
    ]
    assert dir(cf) == sorted(cf.__all__)
    for name in cf.__all__:
        assert getattr(cf, name) is not None


def test_import_is_light():
    heavy = [
        "torch",
        "matplotlib",
        "jax",
        "distributed",
        "sympy",
        "pandas",
        "sklearn",
        "numba",
        "pyoperon",
        "scipy",
        "mpmath",
    ]
    code = f"import closedform, sys; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_import_is_quick():
    # Seconds of the processor: the clock would measure who else is on the machine.
    seconds = []
    for _ in range(2):  # the first may compile
        before = sum(os.times()[2:4])
        subprocess.run([sys.executable, "-c", "import closedform"], check=True)
        seconds.append(sum(os.times()[2:4]) - before)
    assert min(seconds) < 1.0
