"""What the paper itself reports; judged by eye there, so nothing is scored against it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reported:
    """What the paper says of an experiment.

    Attributes
    ----------
    found : str
        The formula.
    by_direct_regression : bool
        Whether direct regression found it, after several runs.
    """

    found: str
    by_direct_regression: bool


REPORTED = {
    1: Reported("-0.677 - A11 - A22", True),
    2: Reported("A12*A21 - A11*A22", True),
    3: Reported("A11 + A22 + A33", True),
    4: Reported("A12*A21 + A23*A32 + A13*A31", True),
    5: Reported("A11 + A22 + A33 + A44", True),
    6: Reported("E1*B1 + E2*B2 + E3*B3", False),
    7: Reported("0.173/(v**2 + x**2)", True),
    8: Reported("v**2 + exp(x**2)", False),
    9: Reported("-v**2 + sin(x)/(-0.5)", False),
    10: Reported("v**2 + x**2 + exp(x)/sin(0.184)", False),
    11: Reported("x2*v1 - x1*v2", True),
    12: Reported("t**2 - x1**2 - x2**2 - x3**2", False),
}
