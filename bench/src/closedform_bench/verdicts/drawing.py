"""Cases without end: each part's next one follows from the seed and its number alone."""

import numpy as np

from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.verdicts.case import PARTS, Part, VerdictCase

NOISES = (0.0, 0.0, 0.3, 1.0, 2.0)
"""Degrees, in turn."""

TRAINING = (500, 1000, 2000, 4000, 8000, 20000)
MOST_INPUTS = 5
"""Networks that are trained for seconds do not learn formulas of more."""

N_READ = 1500
FEYNMAN_SHARE = 0.3


def draw_case(part: Part, seed: int, number: int) -> VerdictCase:
    """The case of a number."""
    rng = np.random.default_rng([seed, PARTS.index(part), number])
    name = f"{part}-{seed}-{number}"
    if part == "controls":
        from closedform_bench.verdicts.controls import KINDS, draw_control  # brings torch

        return draw_control(name, list(KINDS)[number % len(KINDS)], rng)
    if part == "fields":
        problem, degrees = _problem(name, rng, 8), NOISES[number % len(NOISES)]
        kind = f"{degrees:g} degrees" if degrees else "exact"
        return VerdictCase(name, kind, exact_field(problem, rng, degrees=degrees), problem)
    return _network(name, rng)


def _network(name: str, rng: np.random.Generator) -> VerdictCase:
    from closedform_bench.verdicts.small_networks import ACTIVATIONS, train  # brings torch

    problem = _problem(name, rng, MOST_INPUTS)
    activation, count = str(rng.choice(list(ACTIVATIONS))), int(rng.choice(TRAINING))
    points = problem.points(count, rng)
    network = train(points, problem.formula()(points), activation, rng)
    field = network.field(problem.points(N_READ, rng), problem.names)
    return VerdictCase(name, f"{activation}, {count} points", field, problem)


def _problem(name: str, rng: np.random.Generator, most: int) -> Problem:
    """A formula of the grammar, or now and then one of Feynman's."""
    if rng.random() < FEYNMAN_SHARE:
        known = [
            (truth, ranges) for truth, ranges in EQUATIONS.values() if 2 <= len(ranges) <= most
        ]
        return Problem(name, *known[int(rng.integers(len(known)))])
    while True:
        (problem,) = draw_problems(1, int(rng.integers(2**31)))
        if len(problem.ranges) <= most:
            return Problem(name, problem.truth, problem.ranges)
