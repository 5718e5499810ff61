"""Several networks that hold one concept: their fields joined for the search, and the concept
judged on each of them.

Networks of other seeds or kinds share g and differ in phi, noise and bias. At common points the
agreed directions are those of the mean projector on the networks' directions, whose errors are
smaller than those of one network. Points at which the networks disagree count less: there each of
them is wrong, also in what they agree on.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import checked_keywords
from closedform.basics.progress import ProgressLike
from closedform.basics.randomness import Randomness, as_seed
from closedform.canonical.constants import free_constants, with_coefficients
from closedform.errors import ShapeError
from closedform.expressions.complexity import constant_values, fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.units import UnitsLike
from closedform.field.alignment.refit import refit
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import TangentSpace, robust_spread
from closedform.field.tolerances import ROUNDED_AWAY
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.answer_data import NetworkReading
from closedform.interpretation.verdict import Verdict
from closedform.judge.checks import Check, Sure
from closedform.judge.rules import RuleLike
from closedform.judge.thresholds import Thresholds
from closedform.judge.verify_stage import verify
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.search_stage import MOST_HELD_OUT, choose_points
from closedform.searching.space import SearchSpace


@checked_keywords
def interpret_fields(
    fields: Sequence[GradientField],
    *,
    network_names: Sequence[str] | None = None,
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    space: SearchSpace | None = None,
    rule: RuleLike = "evidence",
    hypothesis: str | Expression | None = None,
    checks: Sequence[Check] | None = None,
    thresholds: Thresholds | None = None,
    progress: ProgressLike = None,
    title: str = "",
    command: str = "",
    units: UnitsLike | None = None,
    seeds: int = 1,
) -> Interpretation:
    """Read what the fields of several networks have in common, and judge it on each of them.

    Parameters
    ----------
    fields : sequence of GradientField
        Of the same inputs. At points that all of them share, directions are averaged, which lowers
        noise and bias.
    network_names : sequence of str, optional
        For tables; 'network 1' and so on by default.
    engine, budget, rng, space, rule, hypothesis, checks, thresholds, progress, title, command
        As in `closedform.interpret_field`.
    units, seeds
        As in `closedform.interpret_field`.

    Returns
    -------
    Interpretation
        `networks` has the verdict and the constants of each network, and `agreement` says what they
        agree on.

    Examples
    --------
    >>> import closedform as cf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(-1, 1, (200, 2))
    >>> fields = [
    ...     cf.GradientField.from_arrays(points, points * [1, 2] + errors, names=["x", "v"])
    ...     for errors in 0.1 * rng.normal(size=(2, 200, 2))
    ... ]
    >>> found = cf.interpret_fields(
    ...     fields, engine="terms", budget=cf.Budget(evaluations=100), rng=0
    ... )
    >>> print(found.concept)
    2*v**2 + x**2
    """
    usual = [f"network {number}" for number in range(1, len(fields) + 1)]
    labels = usual if network_names is None else list(network_names)
    if not fields:
        raise ShapeError("The list of fields is empty; pass at least one field.")
    if len(labels) != len(fields):
        raise ShapeError(
            f"There are {len(labels)} names for {len(fields)} networks; pass one for each."
        )
    seed = as_seed(rng)
    found = interpret_field(
        common_field(fields), engine=engine, budget=budget, rng=seed, space=space, rule=rule,
        hypothesis=hypothesis, checks=checks, thresholds=thresholds, progress=progress,
        title=title, command=command, units=units if units is not None else fields[0].units,
        seeds=seeds,
    )  # fmt: skip
    generator = np.random.default_rng([seed, len(fields)])
    pairs = zip(fields, labels, strict=True)
    readings = (_judged(found, field, label, generator, thresholds) for field, label in pairs)
    return replace(found, networks=tuple(readings))


def common_field(fields: Sequence[GradientField]) -> GradientField:
    """One field of several, of the median rank: mean directions at shared points, else all."""
    if len(fields) == 1:
        return fields[0]
    if len({field.names for field in fields}) != 1:
        raise ShapeError(
            f"The networks have different inputs: {[field.names for field in fields]}; pass "
            f"fields of the same inputs."
        )
    if len({field.tangent.rank for field in fields}) != 1:
        ranks = [field.tangent.rank for field in fields]
        raise ShapeError(
            f"The data's tangent spaces have ranks {ranks}; extract all fields from inputs of the "
            f"same kind and with the same tangent=."
        )
    rank = int(np.median([field.rank for field in fields]))
    usable = [field for field in fields if field.rank >= rank]
    same = all(np.array_equal(field.points, usable[0].points) for field in usable)
    return _agreed(usable, rank) if same else _stacked(usable, rank)


def _judged(
    found: Interpretation,
    field: GradientField,
    name: str,
    rng: np.random.Generator,
    thresholds: Thresholds | None,
) -> NetworkReading:
    """Fit the constants of the common concepts to one network, and verify them there on points that
    were not fitted. Of several concepts each is taken modulo the others, as they are in common.
    """
    seen = choose_points(field, rng)
    concepts = found.concepts
    own, verdicts, misalignments, constants = [], [], [], []
    for place, concept in enumerate(concepts):
        left = field.modulo([*concepts[:place], *concepts[place + 1 :]][: max(field.rank - 1, 0)])
        held = left.subset(np.setdiff1d(np.arange(field.n_points), seen)[:MOST_HELD_OUT])
        free = with_coefficients(concept)
        positions = [constant.position for constant in free_constants(free)]
        part = found.parts[place] if found.parts else found
        # More complex ones fit one network's bias better, and several networks are read because of
        # that.
        rivals = [
            entry.expression
            for entry in part.front
            if part.entry and entry.complexity < part.entry.complexity
        ]
        places = [positions, *(fitted_positions(rival.tree) for rival in rivals)]
        (fitted, *others), _ = refit([free, *rivals], left.subset(seen), positions=places)
        answer = verify(fitted, held, rivals=others, thresholds=thresholds, rng=rng, progress=False)
        assert answer.alignment is not None
        own.append(fitted)
        verdicts.append(_own_verdict(answer))
        misalignments.append(answer.alignment.misalignment)
        constants.append(tuple(constant_values(fitted.tree, positions)))
    return NetworkReading(name, tuple(own), tuple(verdicts), tuple(misalignments), tuple(constants))


def _own_verdict(answer: Interpretation) -> Verdict:
    """Whether one network follows the common form with constants of its own."""
    # That these are fitted is no reason for doubt: how sure the form is was asked of what the
    # networks have in common.
    checks = tuple(check for check in answer.verdict.checks if check.name != Sure.name)
    heaviest = max((rival.weight for rival in answer.rivals), default=0.0)
    is_fine = all(check.passed for check in checks) and (answer.confidence or 0.0) >= heaviest
    if not is_fine or answer.verdict.status in ("verified", "none"):
        return answer.verdict
    said = "The network follows the common formula with constants of its own."
    return Verdict("verified", said, checks, answer.verdict.n_points)


def _agreed(fields: Sequence[GradientField], rank: int) -> GradientField:
    """The top eigenvectors of the mean projector at each point."""
    first = fields[0]
    weights = np.stack([field.weights for field in fields])
    ambient = [field.tangent.ambient(field.frames) for field in fields]
    shares = weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    mean = np.einsum("fn,fnde->nde", shares, np.stack([f @ np.swapaxes(f, 1, 2) for f in ambient]))
    values, vectors = np.linalg.eigh(mean)
    frames = vectors[:, :, ::-1][:, :, :rank]
    if rank == 1:  # an eigenvector has any sign, a gradient has one
        along = np.einsum("ndk,ndk->n", frames, ambient[0][:, :, :1])
        frames = frames * np.where(along < 0, -1.0, 1.0)[:, None, None]
    alive = (weights > 0).sum(axis=0) * 2 > len(fields)
    # The share of the networks' directions outside the agreed ones; as a weight, against what is
    # typical.
    apart = np.clip(1 - values[:, ::-1][:, :rank].mean(axis=1), 0.0, 1.0)
    typical = float(np.median(apart[alive])) if alive.any() else 0.0
    trust = (typical + ROUNDED_AWAY) / (typical + ROUNDED_AWAY + apart)
    jacobians = np.swapaxes(frames / first.scale[:, None], 1, 2)
    field = GradientField.from_arrays(
        first.points, np.where(alive[:, None, None], jacobians, np.nan), names=first.names,
        tangent=first.tangent, weights=weights.mean(axis=0) * trust, signed=first.is_signed,
    )  # fmt: skip
    return replace(
        field,
        latents=_joined([field.latents for field in fields]),
        slopes=_joined([field.slopes for field in fields]),
        held=first.held,
    )


def _joined(arrays: Sequence[FloatArray | None]) -> FloatArray | None:
    """The columns of all networks, each of which has a phi of its own; None if one has none."""
    known = [array for array in arrays if array is not None]
    return frozen(np.hstack(known)) if len(known) == len(arrays) else None


def _stacked(fields: Sequence[GradientField], rank: int) -> GradientField:
    """All points with their directions, in a common scale."""
    points = np.vstack([field.points for field in fields])
    scale = robust_spread(points)
    tangent = _stacked_tangent(fields, scale)
    covectors = np.vstack([field.directions[:, :, :rank] for field in fields])
    # Orthonormal in the common scale, so that every direction counts alike.
    frames = np.linalg.qr(tangent.coordinates(covectors, scale))[0]
    return GradientField.from_arrays(
        points,
        np.swapaxes(tangent.ambient(frames) / scale[:, None], 1, 2),
        names=fields[0].names,
        tangent=tangent,
        weights=np.concatenate([field.weights for field in fields]),
        signed=False,
    )


def _stacked_tangent(fields: Sequence[GradientField], scale: FloatArray) -> TangentSpace:
    """The tangent spaces at all points, in a common scale."""
    first = fields[0].tangent
    if all(field.tangent.kind == "none" for field in fields):
        return first
    bases = []
    for field in fields:
        identity = np.eye(len(field.names))
        shape = field.n_points, len(field.names), field.tangent.rank
        own = identity if field.tangent.basis is None else field.tangent.basis
        basis = np.broadcast_to(own, shape)
        bases.append(np.linalg.qr(basis * (field.scale / scale)[:, None])[0])
    kind = "constraints" if first.kind == "none" else first.kind
    return TangentSpace(kind, first.rank, frozen(np.vstack(bases)), first.spectrum)
