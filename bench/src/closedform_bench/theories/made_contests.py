"""Contests whose outcome is known: three or four theories and a network that was trained on one of
them, or on a formula that is none of them.

A theory is two or three functions of one input each, joined by sums and products. The others are
made from the truth by exchanging functions and joints, so that they are near it. What a contest
could not decide even without a network is drawn again: theories that the truth's constants can
reach, and constants that directions do not fix.
"""

from dataclasses import dataclass, replace

import numpy as np

import closedform as cf
from closedform.arrays import FloatArray
from closedform.judge.regions import angles_in_degrees
from closedform.reading.theories.theory import read_theories
from closedform.reading.theories.weighed_theories import FittedTheory, fit_theories
from closedform_bench.formulas.trained import PHIS
from closedform_bench.verdicts.small_networks import SmallNetwork, train

PARTS = (
    "{x}", "{x}**2", "{x}**{c}", "exp(-{c}*{x})", "log(1 + {c}*{x})", "sqrt({c} + {x})",
    "{x}/({c} + {x})", "tanh({c}*{x})", "sin({c}*{x})", "1/(1 + {c}*{x}**2)", "exp({x}/2)",
)  # fmt: skip
JOINTS = ("{p} + {c}*{q}", "{p}*{q}", "{p}/(1 + {q})", "{p} - {c}*{q}", "{p}*(1 + {c}*{q})")
RANGES = ((0.5, 2.0), (0.5, 3.0), (1.0, 3.0), (0.2, 2.0))
CONSTANTS = (0.4, 2.2)
"""Between these the true constants are drawn."""

N_READ, N_EXACT = 1500, 250
"""Points at which a network is read, and at which theories are compared with the truth."""

ERRORS = (1.0, 5.0)
"""Degrees: the median angle between a network and the truth."""

NEAR, APART = 2.0, 1.4
"""Times the network's error: a near contest has a wrong theory within the first, a far one has
none. None is within the second: such a theory is nearer to the truth than the network is (errors
add as squares)."""

IDENTIFIED = 0.01
"""Share within which a fit to the exact truth must find its constants again."""


@dataclass(frozen=True, slots=True)
class Form:
    """Functions and joints, without numbers; constants are named in their order."""

    parts: tuple[int, ...]
    joints: tuple[int, ...]
    inputs: tuple[int, ...]

    def text(self, names: list[str]) -> tuple[str, int]:
        """The formula, and how many constants it has: c1, c2 and so on."""
        count = 0

        def filled(template: str, **parts: str) -> str:
            nonlocal count
            if "{c}" in template:
                count += 1
            return template.format(c=f"c{count}", **parts)

        text = filled(PARTS[self.parts[0]], x=names[self.inputs[0]])
        for part, joint, column in zip(self.parts[1:], self.joints, self.inputs[1:], strict=True):
            right = filled(PARTS[part], x=names[column])
            text = f"({filled(JOINTS[joint], p=text, q=right)})"
        return text, count


@dataclass(frozen=True, slots=True, eq=False)
class MadeContest:
    """A contest and its outcome."""

    number: int
    theories: dict[str, str]
    free: list[str]
    truth: str
    true_name: str | None  # None if the truth is not among the theories
    constants: dict[str, float]  # the true ones
    field: cf.GradientField
    error: float  # degrees between the network and the truth
    nearest: float  # degrees of the nearest wrong theory to the network
    training: str


def made_contest(seed: int, number: int, *, has_truth: bool, is_near: bool) -> MadeContest:
    """The contest of a seed and a number."""
    rng = np.random.default_rng([seed, number, int(has_truth), int(is_near)])
    while True:
        drawn = _drawn(rng)
        if drawn is None:
            continue
        form, names, ranges, numbers = drawn
        for _ in range(3):
            found = _trained(form, names, ranges, numbers, rng)
            if found is None:
                continue
            field, error, told = found
            chosen = _chosen(form, names, field, error, rng, has_truth=has_truth, is_near=is_near)
            if chosen is None:
                continue
            forms, nearest = chosen
            return _written(number, form, forms, names, numbers, field, error, nearest, told, rng,
                            has_truth=has_truth)  # fmt: skip


def _drawn(rng: np.random.Generator) -> tuple[Form, list[str], FloatArray, FloatArray] | None:
    """A truth whose constants directions fix; None if this draw is not one."""
    names = [f"x{place + 1}" for place in range(int(rng.integers(2, 5)))]
    ranges = np.array([RANGES[place] for place in rng.integers(len(RANGES), size=len(names))])
    n_parts = int(rng.integers(max(2, len(names)), 5))
    columns = [*rng.permutation(len(names)), *rng.integers(len(names), size=n_parts)][:n_parts]
    form = Form(
        tuple(rng.integers(len(PARTS), size=n_parts).tolist()),
        tuple(rng.integers(len(JOINTS), size=n_parts - 1).tolist()),
        tuple(int(column) for column in columns),
    )
    text, count = form.text(names)
    if not 1 <= count <= 3:
        return None
    numbers = np.round(rng.uniform(*CONSTANTS, count), 3)
    points = _points(ranges, N_EXACT, rng)
    field = _exact(text, names, numbers, points)
    if field is None:
        return None
    one = _fit(text, names, count, field, rng)
    reached = np.abs(one.numbers - numbers) <= IDENTIFIED * numbers
    errors_known = np.median(one.settled.heard.squares()[0]) < 1e-8
    return (form, names, ranges, numbers) if reached.all() and errors_known else None


def _trained(
    form: Form, names: list[str], ranges: FloatArray, numbers: FloatArray, rng: np.random.Generator
) -> tuple[cf.GradientField, float, str] | None:
    """A small network of the truth, if its error is of the size that is asked for."""
    text, _ = form.text(names)
    formula = _with_numbers(text, names, numbers)
    count = int(np.exp(rng.uniform(np.log(200), np.log(3000))))
    steps, noise = int(rng.choice([300, 600, 1200])), float(rng.choice([0.0, 0.01, 0.03]))
    activation, phi = str(rng.choice(["silu", "gelu", "tanh"])), str(rng.choice(list(PHIS)))
    points = _points(ranges, count, rng)
    values = formula(points)
    targets = PHIS[phi]((values - values.mean()) / values.std())
    targets = targets + noise * targets.std() * rng.normal(size=count)
    network: SmallNetwork = train(points, targets, activation, rng, steps=steps)
    field = network.field(_points(ranges, N_READ, rng), names)
    error = _median_angle(formula.gradient(field.points), field)
    told = f"{count} points, {steps} steps, {activation}, {phi}, noise {noise:g}"
    return (field, error, told) if ERRORS[0] <= error <= ERRORS[1] else None


def _chosen(
    form: Form,
    names: list[str],
    field: cf.GradientField,
    error: float,
    rng: np.random.Generator,
    *,
    has_truth: bool,
    is_near: bool,
) -> tuple[list[Form], float] | None:
    """Wrong theories as near as they are asked for; None if there are none."""
    wanted = int(rng.integers(3, 5)) - int(has_truth)
    few = replace(field.subset(np.arange(N_EXACT)), latents=None, slopes=None)
    truth, _ = form.text(names)
    seen = {truth}
    near: list[tuple[float, Form]] = []
    far: list[tuple[float, Form]] = []
    for _ in range(40):
        other = _mutated(form, rng)
        text, count = other.text(names)
        if text in seen or count > 3 or _exact(text, names, np.ones(count), few.points) is None:
            continue
        seen.add(text)
        one = _fit(text, names, count, few, rng)
        angle = float(np.median(angles_in_degrees(one.settled.heard.squares()[0])))
        if angle < APART * error:
            # Perhaps the truth in other words: it is left out, not judged.
            continue
        (near if angle <= NEAR * error else far).append((angle, other))
        if (len(near) or not is_near) and len(near) * is_near + len(far) >= wanted + 2:
            break
    if is_near and not near:
        return None
    # In a far contest nothing near stands; in a near one the nearest do.
    ordered = sorted([*near, *far] if is_near else far, key=lambda pair: pair[0])
    picked = ordered[:wanted]
    if len(picked) < wanted:
        return None
    return [each for _, each in picked], min(angle for angle, _ in picked)


def _written(
    number: int,
    form: Form,
    forms: list[Form],
    names: list[str],
    numbers: FloatArray,
    field: cf.GradientField,
    error: float,
    nearest: float,
    told: str,
    rng: np.random.Generator,
    *,
    has_truth: bool,
) -> MadeContest:
    every = [*forms, *([form] if has_truth else [])]
    order = rng.permutation(len(every)).tolist()
    theories = {chr(65 + place): every[which].text(names)[0] for place, which in enumerate(order)}
    true_name = chr(65 + order.index(len(every) - 1)) if has_truth else None
    most = max(each.text(names)[1] for each in every)
    known = {f"c{place + 1}": float(value) for place, value in enumerate(numbers)}
    return MadeContest(
        number, theories, [f"c{place + 1}" for place in range(most)], form.text(names)[0],
        true_name, known, field, error, nearest, told,
    )  # fmt: skip


def _mutated(form: Form, rng: np.random.Generator) -> Form:
    """One or two functions or joints exchanged."""
    parts, joints = list(form.parts), list(form.joints)
    for _ in range(int(rng.integers(1, 3))):
        place = int(rng.integers(len(parts) + len(joints)))
        if place < len(parts):
            parts[place] = int(rng.integers(len(PARTS)))
        else:
            joints[place - len(parts)] = int(rng.integers(len(JOINTS)))
    return Form(tuple(parts), tuple(joints), form.inputs)


def _fit(
    text: str, names: list[str], count: int, field: cf.GradientField, rng: np.random.Generator
) -> FittedTheory:
    free = [f"c{place + 1}" for place in range(count)]
    (one,), _ = fit_theories(read_theories({"one": text}, names, free), field, rng)
    return one


def _points(ranges: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(ranges[:, 0], ranges[:, 1], (count, len(ranges)))


def _with_numbers(text: str, names: list[str], numbers: FloatArray) -> cf.Expression:
    for place, number in enumerate(numbers):
        text = text.replace(f"c{place + 1}", f"{number:g}")
    return cf.parse(text, names=names)


def _exact(
    text: str, names: list[str], numbers: FloatArray, points: FloatArray
) -> cf.GradientField | None:
    """The formula's own field; None if it is not finite everywhere or an input hardly matters."""
    formula = _with_numbers(text, names, numbers)
    values, gradients = formula(points), formula.gradient(points)
    if not (np.isfinite(values).all() and np.isfinite(gradients).all()):
        return None
    sizes = np.abs(gradients * points.std(axis=0))
    lengths = np.linalg.norm(sizes, axis=1)
    if not (lengths > 0).all() or (np.median(sizes / lengths[:, None], axis=0) < 0.1).any():
        return None
    return cf.GradientField.from_arrays(points, gradients, names=names, tangent="none")


def _median_angle(gradients: FloatArray, field: cf.GradientField) -> float:
    units = field.project(gradients)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    along = np.einsum("nd,nd->n", units, field.frames[:, :, 0])
    return float(np.median(angles_in_degrees(1 - along**2)))
