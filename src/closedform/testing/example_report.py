"""A report with everything in it, for trying what shows reports.

Candidates, misalignments, angles and phi are computed; reasons, rivals, findings and what is left are written by hand.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.isotonic import IsotonicRegression

from closedform._version import __version__
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.report.figure_data import (
    CandidateView,
    Coefficient,
    Curve,
    DirectionField,
    Evidence,
    FindingView,
    HypothesisView,
    Reason,
    ReportData,
    RivalView,
)

TRUTH = "v**2/2 + sin(x)"
"""The energy of a pendulum, up to its scale."""

FRONT = (
    ("terms", "v"),
    ("terms", "x*cos(v)"),
    ("terms", "x + 0.7788*v**4"),
    ("terms", "cos(v)*sin(x)"),
    ("evolution", "v**2/2 + sin(x)"),
    ("evolution", "sin(x) + 0.00332*x + 0.5004*v**2"),
    ("evolution", "sin(x) + 0.0084*x**2 + 0.501*v**2"),
    ("terms", "0.001358*x**4 + sin(x) + 0.498*v**2"),
    ("evolution", "sin(x) + 0.004322*x**2 + 0.006128*x**2*v**2 + 0.4828*v**2"),
    ("evolution", "sin(x) + 0.0008378*x**4 + 0.004814*x**2*v**2 + 0.4854*v**2"),
    ("terms", "0.0008545*x**4 + sin(x) + 0.001031*x**3*v + 0.00495*x**2*v**2 + 0.485*v**2"),
    ("terms", "sin(x) + 0.009809*x**2*sqrt(1 + v**2) + 0.484*v**2 - 0.01492*x*sin(x + v)"),
    ("evolution", "sin(x) + 0.0009084*x**4 + 0.004835*x**2*v**2 + 0.4853*v**2 - 0.01154*v*sin(2*x)"),
)
"""From the front of `ConceptSearch` on 1,500 of the gradients of `pendulum_gradients`, with the engine that found each.

Numbers are rounded to four digits, the choice's 0.50006 to one half, and three of sixteen candidates are left out.
"""

CHOSEN = 4

COEFFICIENTS = (("v**2", 0.5001, 0.4921, 0.5083), ("sin(x)", 1.0, 0.981, 1.019))


def pendulum_gradients(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Gradients of the energy with a smooth bias, as a trained network has, and 1.5 degrees of noise."""
    x, v = points.T
    gradients = parse(TRUTH, ["x", "v"]).gradient(points)
    bias = np.column_stack([0.04 * np.sin(1.3 * v) + 0.03 * x, 0.05 * np.cos(x)])
    gradients = gradients + bias * np.linalg.norm(gradients, axis=1, keepdims=True)
    turn = np.deg2rad(1.5) * rng.normal(size=len(points))
    first, second = gradients.T
    return np.column_stack([np.cos(turn) * first - np.sin(turn) * second, np.sin(turn) * first + np.cos(turn) * second])


def example_report(names: Sequence[str] = ("x", "v")) -> ReportData:
    """The pendulum's energy read out of a field that looks like a trained network's.

    Parameters
    ----------
    names : sequence of str
        What to call the two inputs.

    Examples
    --------
    >>> str(example_report().choice.expression)
    'v**2/2 + sin(x)'
    """
    rng = np.random.default_rng(0)
    points = rng.uniform([-3, -2], [3, 2], (600, 2))
    gradients = pendulum_gradients(points, rng)
    energy = parse(TRUTH, ["x", "v"])
    latents = np.tanh(0.8 * energy(points)) + 0.1 * energy(points) + 0.03 * rng.normal(size=len(points))
    expressions = [(engine, parse(text, ["x", "v"])) for engine, text in FRONT]
    candidates = [_candidate(engine, e, tuple(names), points, gradients, latents) for engine, e in expressions]
    best = candidates[CHOSEN]
    low, high = best.interval or (0.0, 0.0)
    angle = float(np.median(best.angles)) if best.angles is not None else 0.0
    x, v = names

    def named(text: str) -> Expression:
        return Expression(parse(text, ["x", "v"]).tree, tuple(names))

    return ReportData(
        title="Neuron encoder.4:0 of pendulum.pt2",
        status="verified",
        sentence="The neuron encodes the formula below: it holds at 600 points that the search never saw.",
        candidates=tuple(candidates),
        chosen=CHOSEN,
        choice_reason=(
            "Chosen because the next simpler candidate fits 102 times worse, and no more complex one lowers the misalignment "
            "by a factor of 2 for each added term."
        ),
        steepest_drop=CHOSEN,
        floor=0.0014,
        reasons=(
            Reason(f"The misalignment is below 0.02: at most {high:.2g} with 95% confidence.", True),
            Reason("The latent is a monotone function of the concept: rank correlation 0.9974.", True),
            Reason("Both halves of the data give the same form.", True),
            Reason("It fits 113 times better than anything of half its complexity.", True),
            Reason("Faithfulness was not measured: the network is not at hand.", None),
        ),
        evidence=(
            Evidence(
                "Misalignment", f"{best.misalignment:.2g}", f"0 is perfect, 0.5 is chance. Interval {low:.2g} to {high:.2g}."
            ),
            Evidence("Median angle", f"{angle:.1f}°", "Between the gradients of formula and network."),
            Evidence("Rank correlation", "0.9974", "Of the latent with the formula."),
            Evidence("R² of φ(g)", "0.9981", "Share of the latent that the formula explains."),
            Evidence("Stable over seeds", "5 of 5", "Searches that found the same concept."),
            Evidence("Floor", "0.0014", "What the best of all candidates leaves unexplained."),
        ),
        coefficients=tuple(Coefficient(named(term), *values) for term, *values in COEFFICIENTS),
        directions=DirectionField((x, v), points, gradients, energy.gradient(points)),
        findings=(
            FindingView("warning", "Directions carry noise of about 2.1 degrees.", "Use more points, or smooth the gradients."),
            FindingView("info", "The gradient is zero at 0.4% of the points, which do not count."),
        ),
        rivals=(
            RivalView(candidates[6].expression, 22, candidates[6].misalignment, {x: 2.97, v: 0.02}, "2.9 degrees"),
            RivalView(candidates[7].expression, 24, candidates[7].misalignment, {x: -2.99, v: -0.01}, "8.4 degrees"),
        ),
        hypothesis=HypothesisView(named("v**2 + 2*sin(x)"), True, "The concept is the same (proved)."),
        command="closedform interpret pendulum.npz --engine auto --budget 25 --seed 0 --report pendulum.html",
        versions={"closedform": __version__, "Python": "3.12.7", "NumPy": "2.2.1", "pyoperon": "0.6.2"},
        settings={"budget": "25 s", "tangent": "none", "points": "1,500 searched, 600 held out"},
        engine="auto",
        seconds=25.3,
        seed="0",
    )


def _candidate(
    engine: str, expression: Expression, names: tuple[str, ...], points: FloatArray, gradients: FloatArray, latents: FloatArray
) -> CandidateView:
    own = expression.gradient(points)
    norms = np.linalg.norm(own, axis=1) * np.linalg.norm(gradients, axis=1)
    cosine = np.abs(np.einsum("nd,nd->n", own, gradients)) / np.where(norms > 0, norms, 1.0)
    losses = 1 - np.clip(cosine, 0, 1) ** 2
    means = [losses[np.random.default_rng(draw).integers(len(losses), size=len(losses))].mean() for draw in range(100)]
    values = expression(points)
    increasing = bool(np.corrcoef(values, latents)[0, 1] >= 0)
    fitted = IsotonicRegression(increasing=increasing).fit_transform(values, latents)
    order = np.argsort(values)
    low, high = np.quantile(means, [0.025, 0.975])
    return CandidateView(
        expression=Expression(expression.tree, names),
        complexity=expression.complexity(),
        misalignment=float(losses.mean()),
        engine=engine,
        interval=(float(low), float(high)),
        angles=np.degrees(np.arccos(np.clip(cosine, 0, 1))),
        concept_values=values,
        latent_values=latents,
        phi=Curve(values[order], fitted[order]),
    )
