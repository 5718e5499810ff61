"""Made curves: is what `families().curves()` verifies true?

``python bench/scripts/made_curves.py --seed 12345 --count 60``

A third are formulas of the stock with drawn numbers, a third quotients and sums of two, a third
(controls) smooth curves without a short formula. Values have drawn errors, half of them smooth.
"""

import argparse
import time

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.parse import parse
from closedform.reading.curve_reading import CurveReading, read_curve

SINGLE = (
    "a*log(k/b)", "a*k**b", "a + b*k", "a*exp(-b*k)", "a*exp(-b*k) + c", "a*k/(k + b)", "a",
    "a*tanh(b*k)", "a*sin(b*k)", "a/(k**2 + b)", "a*k*exp(-b*k)", "a*k/(exp(b*k) - 1)",
    "a*sqrt(k) + b",
)  # fmt: skip
DOUBLE = (
    "(1 + a*k)/(k**2 + a*k)", "(a + k)/(b + k)", "a + b*k + c*k**2", "a*k + b/k", "a*log(k) + b*k",
    "(1 + a*k)/(1 + b*k**2)", "a*k**b*exp(-k)", "a*exp(-k) + b*k", "a*k**2 + b*sqrt(k)",
)  # fmt: skip

FAR = 0.02


def main() -> None:
    """Draw, read and score them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=60)
    arguments = parser.parse_args()
    totals = {kind: [0, 0, 0, 0] for kind in ("single", "double", "control")}
    for number in range(arguments.count):
        rng = np.random.default_rng([arguments.seed, number])
        kind = ("single", "double", "control")[number % 3]
        truth, curve, index, clean = _made(kind, rng)
        started = time.process_time()
        found = read_curve(*curve)
        assert found is not None
        right = truth is not None and _same(found, index, clean, curve[2])
        status, one = found.verdict.status, totals[kind]
        one[0] += 1
        one[1] += right
        one[2] += status == "verified"
        one[3] += status == "verified" and right
        taken = time.process_time() - started
        print(
            f"{kind:8} {right!s:5} {truth} | {found} | {len(curve[0])} points, {taken:.1f} s",
            flush=True,
        )
    for kind, (count, right, verified, both) in totals.items():
        print(f"{kind}: {count}, right {right}, verified {verified}, of these right {both}")


def _made(kind, rng):
    """Truth, the curve with its errors, and the same without errors on a finer index."""
    low, size = rng.uniform(0.2, 1.0), rng.choice([12, 25, 60])
    index = np.linspace(low, low + rng.uniform(2, 6), size)
    fine = np.linspace(index[0], 2 * index[-1] - index[0], 400)
    truth = None
    if kind == "control":
        waves = rng.normal(size=(2, 4)) / np.arange(1, 5)
        span = index[-1] - index[0]

        def value(k: FloatArray) -> FloatArray:
            phases = np.outer(k - low, np.arange(1, 5)) / span
            bump = np.exp(-(((k - low) / span - 0.4) ** 2) / 0.05)
            return 1 + k / 3 + bump + np.cos(phases) @ waves[0] + np.sin(phases * 1.7) @ waves[1]

    else:
        text = rng.choice(SINGLE if kind == "single" else DOUBLE)
        numbers = {name: float(f"{rng.uniform(0.3, 2.5):.3g}") for name in "abc"}
        names = ["k", *numbers]
        formula = parse(str(text), names=names)
        truth = f"{text} {numbers}"

        def value(k: FloatArray) -> FloatArray:
            table = np.stack([k, *(np.full_like(k, number) for number in numbers.values())], axis=1)
            return formula(table)

    clean = value(index)
    error = float(10 ** rng.uniform(-4, -2)) * float(np.median(np.abs(clean)))
    noise = rng.normal(size=size)
    if rng.random() < 0.5:
        # A network's own error is smooth, and the errors that it states do not know it.
        phases = rng.uniform(0, 6, 3)
        noise = noise + 2 * np.sin(np.outer(index, [1, 2, 3]) + phases).sum(axis=1) / np.sqrt(3)
    return truth, (index, clean + error * noise, np.full(size, error)), fine, value(fine)


def _same(found: CurveReading, index, clean, errors) -> bool:
    """Whether a formula is the truth but for its numbers: near it where it was read and as far
    again, where another form would part from it.
    """
    away = np.abs(found.concept(index[:, None]) - clean)
    return bool((away < FAR * np.abs(clean) + 10 * errors[0]).all())


if __name__ == "__main__":
    main()
