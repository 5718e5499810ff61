"""What each network should have learned. Only scoring imports this file; a test sees to it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """An expected invariant.

    Attributes
    ----------
    expression : str
        In the names of the experiment's inputs.
    name : str
        What it is called.
    spellings : tuple of str
        Other functions that agree with it on the data, for a comparison of full gradients, which
        depends on the spelling.
    """

    expression: str
    name: str
    spellings: tuple[str, ...] = ()


ANSWERS = {
    1: Answer("A11 + A22", "trace"),
    2: Answer("A11*A22 - A12*A21", "determinant"),
    3: Answer("A11 + A22 + A33", "trace"),
    4: Answer(
        "A12**2 + A13**2 + A23**2", "sum of principal minors", ("A12*A21 + A13*A31 + A23*A32",)
    ),
    5: Answer("A11 + A22 + A33 + A44", "trace"),
    6: Answer("E1*B1 + E2*B2 + E3*B3", "determinant"),
    7: Answer("v**2/2 + x**2/2", "energy"),
    8: Answer("v**2/2 + x**2/2 + x**4/4", "energy"),
    9: Answer("v**2/2 + sin(x)", "energy"),
    10: Answer("v**2/2 + x**2/2 + exp(x + 1)", "energy"),
    11: Answer("x1*v2 - x2*v1", "angular momentum"),
    12: Answer("t**2 - x**2 - y**2 - z**2", "spacetime interval"),
}
"""To be scored modulo what the experiment holds constant (`Experiment.held`)."""
