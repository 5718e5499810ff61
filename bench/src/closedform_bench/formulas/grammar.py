"""Fresh problems without end: formulas as physics writes them, drawn from a grammar by a seed.

Products of powers, quotients, sums of like parts, functions of a combination, inner constants,
inputs that do not matter. Nothing that is reported can have been tuned on, if the seed was drawn
afterwards.
"""

import numpy as np

from closedform_bench.formulas.fairness import is_fair
from closedform_bench.formulas.problem import Problem, Ranges

FUNCTIONS = (
    "sin({})", "cos({})", "exp(-{})", "exp({})", "log({})", "sqrt({})", "({})**2", "1/(1 + {})",
    "sqrt(1 + ({})**2)",
    "1/(exp({}) - 1)", "log(1 + {})", "1/(1 + ({})**2)", "tanh({})", "(1 - exp(-{}))",
)  # fmt: skip
POWERS = ("", "", "", "**2", "**2", "**3", "**0.5")
RANGES = ((1.0, 2.0), (1.0, 3.0), (1.0, 5.0), (0.5, 2.0), (-1.5, 1.5))
CONSTANTS = (0.3, 0.5, 0.7, 1.5, 2.0, 3.0)


def draw_problems(count: int, seed: int) -> list[Problem]:
    """So many problems of 2 to 8 inputs.

    Examples
    --------
    >>> [problem.truth for problem in draw_problems(3, 0)] == [
    ...     problem.truth for problem in draw_problems(3, 0)
    ... ]
    True
    """
    rng = np.random.default_rng([seed, 20])
    problems: list[Problem] = []
    while len(problems) < count:
        problem = _draw(f"random-{seed}-{len(problems)}", rng)
        if is_fair(problem):
            problems.append(problem)
    return problems


def _draw(name: str, rng: np.random.Generator) -> Problem:
    n_used = int(rng.choice([2, 3, 4, 5, 6, 7, 8], p=[0.22, 0.24, 0.2, 0.14, 0.1, 0.06, 0.04]))
    n_idle = int(rng.random() < 0.15) if n_used < 8 else 0
    names = [f"x{place + 1}" for place in range(n_used + n_idle)]
    used = rng.permutation(names)[:n_used].tolist()
    places = rng.choice(len(RANGES), len(names), p=[0.2, 0.25, 0.3, 0.15, 0.1])
    ranges: Ranges = {each: RANGES[place] for each, place in zip(names, places, strict=True)}
    return Problem(name, _formula(used, rng), ranges)


def _formula(names: list[str], rng: np.random.Generator) -> str:
    """A formula in which every name occurs, now and then one twice."""
    if len(names) == 1:
        return names[0] + str(rng.choice(POWERS))
    cut, kind = int(rng.integers(1, len(names))), rng.random()
    left, right = _formula(names[:cut], rng), _formula(names[cut:], rng)
    if kind < 0.28:
        return f"({left})*({right})"
    if kind < 0.48:
        return f"({left})/({right})"
    if kind < 0.6:
        return f"({left} + {right})"
    if kind < 0.7:
        return f"({left} - {float(rng.choice(CONSTANTS)):g}*({right}))"
    function = str(rng.choice(FUNCTIONS))
    if kind < 0.8:
        return f"({left})*{function.format(f'{float(rng.choice(CONSTANTS)):g}*({right})')}"
    if kind < 0.92:
        return f"({left})*{function.format(f'({right})')}"
    return f"({left})*{function.format(f'({right})/{rng.choice(names)}')}"
