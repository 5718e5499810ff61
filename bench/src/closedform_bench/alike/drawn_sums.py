"""Formulas of one or two sums over alike inputs, drawn by a seed, and what is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import closedform as cf
from closedform.expressions.sites import FormulaOfSums, Group, parse_sums

OF_ANY = (
    "{s}", "{s}**2", "{s}**3", "{s}**4", "sin({k}*{s})", "cos({k}*{s})", "exp({k}*{s})",
    "tanh({k}*{s})", "abs({s})", "1/(1 + {s}**2)", "log(1 + {s}**2)", "exp(-{s}**2)",
)  # fmt: skip
OF_POSITIVE = ("log({s})", "sqrt({s})", "1/{s}", "{s}*log({s})")
OF_PAIRS = ("{s}*{t}", "({s} - {t})**2", "cos({s} - {t})")
"""What stands under a sum: of sites of either sign, of positive ones, and of neighbours."""

OF_TWO = ("{a}*{b}", "{a}/{b}", "{a} + {c}*{b}", "{a}**2 + {c}*{b}", "{a} - {c}*{b}**2")
"""How two sums are put together."""


@dataclass(frozen=True)
class Drawn:
    """A formula, and points to read it at."""

    truth: FormulaOfSums
    points: np.ndarray
    group: Group


def draw(rng: np.random.Generator, count: int = 1500) -> Drawn:
    """A formula of one or two sums over 20 to 200 inputs.

    Each point has a level and a spread of its own, as the readings of sensors do: sums over many
    independent inputs would hardly vary, and nobody could tell one function of them from another.
    """
    while True:
        sites = int(np.exp(rng.uniform(np.log(20), np.log(200))))
        group = Group(range(sites), shape=(sites,))
        level, spread = rng.normal(size=(count, 1)), rng.uniform(0.3, 1.2, (count, 1))
        points = 0.7 * level + spread * rng.normal(size=(count, sites))
        is_positive = bool(rng.random() < 0.3)
        points = np.exp(0.5 * points) if is_positive else points
        sums = _sums(rng, is_positive)
        form = rng.choice(OF_TWO) if len(sums) == 2 else "{a}"
        text = form.format(a=sums[0], b=sums[-1], c=f"{rng.uniform(0.3, 3):.2g}")
        truth = parse_sums(text, {"s": group}, [f"s[{place}]" for place in range(sites)])
        values, gradients = truth(points), truth.gradient(points)
        fine = np.isfinite(values).all() and np.isfinite(gradients).all()
        # A quotient whose denominator changes its sign, or a value that one point decides.
        if fine and np.ptp(values) < 50 * np.subtract(*np.quantile(values, [0.9, 0.1])):
            return Drawn(truth, points, group)


def stated(text: str, sites: int, rng: np.random.Generator, count: int = 1500) -> Drawn:
    """One formula over so many inputs of either sign."""
    group = Group(range(sites), shape=(sites,))
    level, spread = rng.normal(size=(count, 1)), rng.uniform(0.3, 1.2, (count, 1))
    points = 0.7 * level + spread * rng.normal(size=(count, sites))
    truth = parse_sums(text, {"s": group}, [f"s[{place}]" for place in range(sites)])
    return Drawn(truth, points, group)


def _sums(rng: np.random.Generator, is_positive: bool) -> list[str]:
    terms = OF_ANY + OF_POSITIVE if is_positive else OF_ANY
    found: list[str] = []
    wanted = 1 + int(rng.random() < 0.5)
    while len(found) < wanted:
        over_pairs = rng.random() < 0.2
        term = str(rng.choice(OF_PAIRS if over_pairs else terms))
        body = term.format(s="s[i]", t="s[j]", k=f"{rng.uniform(0.6, 2.0):.2g}")
        text = f"sum({body}, neighbours)" if over_pairs else f"sum({body})"
        if text not in found:
            found.append(text)
    return found


def field_of(drawn: Drawn, degrees: float, rng: np.random.Generator) -> cf.GradientField:
    """The exact field, or one with noise of so many degrees; values go through tanh."""
    values, gradients = drawn.truth(drawn.points), drawn.truth.gradient(drawn.points)
    spread = np.subtract(*np.quantile(values, [0.9, 0.1]))
    latents = np.tanh((values - np.median(values)) / spread)
    gradients = gradients / spread * (1 - latents**2)[:, None]
    if degrees:
        noise = rng.normal(size=gradients.shape)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        size = np.linalg.norm(gradients, axis=1, keepdims=True)
        gradients = gradients + np.tan(np.radians(degrees)) * size * noise
    return cf.GradientField.from_arrays(
        drawn.points, gradients, latents=latents, names=drawn.truth.inputs, tangent="none"
    )


def is_right(drawn: Drawn, answer: cf.Interpretation) -> bool:
    """Whether the formula read is the one drawn: its gradients point the same way, to a
    misalignment of 1e-3 without the worst twentieth of the points, and it needs no more sums.
    """
    found: Any = answer.concept
    if not isinstance(found, FormulaOfSums) or len(found.sums) > max(len(drawn.truth.sums), 1):
        return False
    first, second = found.gradient(drawn.points), drawn.truth.gradient(drawn.points)
    with np.errstate(all="ignore"):
        cosines = (first * second).sum(axis=1) / (
            np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        )
    misaligned = np.sort(1 - np.nan_to_num(cosines) ** 2)
    return bool(misaligned[: round(0.95 * len(misaligned))].mean() < 1e-3)


def control(rng: np.random.Generator, count: int = 600) -> tuple[cf.GradientField, Group, str]:
    """What is not a formula of few sums over all inputs: a random network, or two groups that are
    declared one.
    """
    sites = 2 * int(np.exp(rng.uniform(np.log(10), np.log(100))))
    level, spread = rng.normal(size=(count, 1)), rng.uniform(0.3, 1.2, (count, 1))
    points = 0.7 * level + spread * rng.normal(size=(count, sites))
    group = Group(range(sites), shape=(sites,))
    if rng.random() < 0.5:
        first = rng.normal(size=(sites, 16)) / np.sqrt(sites)
        second = rng.normal(size=16)
        hidden = np.tanh(points @ first)
        gradients = ((1 - hidden**2) * second) @ first.T
        field = cf.GradientField.from_arrays(
            points, gradients, latents=hidden @ second, tangent="none"
        )
        return field, group, "random network"
    half = {"s": Group(range(sites // 2)), "t": Group(range(sites // 2, sites))}
    names = [f"x{place}" for place in range(sites)]
    one, two = rng.choice(len(OF_ANY), 2, replace=False)
    parts = [
        OF_ANY[place].format(s=f"{name}[i]", k=f"{rng.uniform(0.6, 2.0):.2g}")
        for place, name in ((one, "s"), (two, "t"))
    ]
    text = f"sum({parts[0]}) + sum({parts[1]})"
    truth = parse_sums(text, half, names)
    field = cf.GradientField.from_arrays(
        points, truth.gradient(points), latents=truth(points), tangent="none"
    )
    return field, group, text
