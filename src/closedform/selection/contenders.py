"""Contenders: the candidates of a search in canonical form, with snapped and shortened forms beside them, judged by region."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.alignment.misalignment import TRIM
from closedform.alignment.refit import refit
from closedform.alignment.scores import field_misalignment
from closedform.canonical.constants import free_constants
from closedform.canonical.form import canonical_form
from closedform.canonical.small_terms import without_small_terms
from closedform.canonical.snap import snapped_forms
from closedform.expressions.complexity import Costs
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions, skeleton
from closedform.expressions.tree import Tree, Variable
from closedform.field.gradient_field import GradientField
from closedform.searching.front import Candidate, Front
from closedform.selection.regions import RegionalScores, divide, score_regions

MOST, VARIANTS = 20, 3
"""Contenders that are judged by region, in all and of one form; each costs a fit for every region."""

PROGRESS = 0.9
"""A candidate of the front matters if its misalignment is at most this share of the last simpler one that does."""

SHORT = 24
"""Variants of at most so many nodes get a canonical form of their own; longer ones are as tidy as what they come from."""

HELPS = 0.9
"""Plain numbers are fitted where that lowers the misalignment at least to this share."""

PERFECT = 1e-10

FACTOR = 2.0
"""How much each added term or constant must lower the misalignment for the choice (calibrated, see docs/verdict.md)."""

BEYOND = 2
"""So many contenders beyond the first that none beats get canonical forms and variants too."""

NEAR = 3.0
"""A form stays in the running while its misalignment is within this factor of the best that is not more complex."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A form that competes to be the concept.

    Attributes
    ----------
    expression : Expression
        In canonical form, constants fitted to all points that the choice sees.
    complexity : int
    n_parts : int
        Terms of its outermost sum and free constants together.
    misalignment : float
        On those points.
    regional : float
        Mean over regions, each judged with constants that were fitted without it.
    errors : tuple of float
        Standard errors of the free constants, in the order in which they are written.
    engine : str
        Which engine found it, or the form that it came from.
    """

    expression: Expression
    complexity: int
    n_parts: int
    misalignment: float
    regional: float = 1.0
    errors: tuple[float, ...] = ()
    engine: str = ""

    @property
    def order(self) -> tuple[int, int, str]:
        """Simplest first."""
        return self.complexity, self.n_parts, str(self.expression)


def gather(
    front: Front, field: GradientField, rng: np.random.Generator, costs: Costs | None = None
) -> tuple[tuple[Contender, ...], RegionalScores]:
    """Bring a front into canonical form, add snapped and shortened forms, and judge all of them by region.

    Parameters
    ----------
    front : Front
    field : GradientField
        The points that the choice sees.
    rng : Generator
        Divides the points into regions.
    costs : Costs, optional
        What nodes cost.

    Returns
    -------
    contenders : tuple of Contender
        Simplest first; none if every candidate is constant.
    scores : RegionalScores
        In the same order.
    """
    sample = field.points[field.weights > 0]
    field = without_outliers(field, front)
    labels = divide(field, rng)
    candidates = _telling(front)
    n_prospects = _prospects([(c.misalignment, count_parts(c.expression.tree)) for c in candidates])
    forms = [
        (canonical_form(c.expression, sample) if place < n_prospects else c.expression, c.engine)
        for place, c in enumerate(candidates)
    ]
    first = _thinned([*_fitted(forms, field, costs), *_loosened(forms, field, costs)])
    if not first:
        return (), RegionalScores(np.empty((0, 1)), np.ones(1), ())
    scores = score_regions([contender.expression for contender in first], field, labels)
    n_prospects = _prospects([(mean, c.n_parts) for mean, c in zip(scores.means().tolist(), first, strict=True)])
    proposals: list[tuple[Expression, str]] = []
    for contender, errors in zip(first[:n_prospects], scores.errors, strict=False):
        made = [*_snapped(contender.expression, errors.tolist()), *without_small_terms(contender.expression, sample)]
        proposals += [(form, contender.engine) for form in made]
    near = [c for c in _thinned([*first, *_fitted(proposals, field, costs)]) if c not in first]
    written = [
        (canonical_form(c.expression, sample) if c.expression.tree.size <= SHORT else c.expression, c.engine) for c in near
    ]
    kept = _thinned([*first, *_fitted(written, field, costs)])
    final = score_regions([contender.expression for contender in kept], field, labels)
    judged = [
        replace(contender, regional=float(mean), errors=tuple(errors.tolist()))
        for contender, mean, errors in zip(kept, final.means(), final.errors, strict=True)
    ]
    return tuple(judged), final


def without_outliers(field: GradientField, front: Front) -> GradientField:
    """The field without the worst 5% of its points under the best candidate, if they are not all perfect.

    A network is bad somewhere, mostly where its gradient nearly vanishes. There a few points would decide the means of all
    candidates alike and hide what tells them apart.
    """
    if front.best is None or front.best.misalignment <= PERFECT:
        return field
    values = field_misalignment(front.best.expression, field)
    limit = np.quantile(values[field.weights > 0], 1 - TRIM)
    return field.subset((values <= limit) & (field.weights > 0)) if limit > 0 else field


def to_front(contenders: Iterable[Contender], *, always: Contender | None = None) -> Front:
    """Contenders by their regional misalignment: those that no simpler one matches, and `always` one of them."""
    kept: list[Contender] = []
    best = np.inf
    for contender in sorted(contenders, key=lambda c: (c.complexity, c.regional, c.order)):
        if contender is always or contender.regional < best:
            kept.append(contender)
        best = min(best, contender.regional)
    return Front(tuple(Candidate(c.expression, c.regional, c.complexity, c.engine) for c in kept))


def count_parts(tree: Tree) -> int:
    """Terms of the outermost sum, fitted constants, and constants such as exp(-2), which hit any number, together.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> count_parts(parse("x**2 + v**2 + 0.53*x**4").tree), count_parts(parse("x + 3*exp(-2)*v").tree)
    (4, 3)
    """
    n_terms, pending = 0, [tree]
    while pending:
        part = pending.pop()
        if part.root in ("add", "sub", "neg"):
            pending += part.children
        elif not part.is_constant:
            n_terms += 1
    computed = tree.fold(
        lambda token: (not isinstance(token, Variable), 0),
        lambda name, *parts: (
            all(constant for constant, _ in parts),
            sum(count for _, count in parts) + (len(parts) == 1 and name != "neg" and parts[0][0]),
        ),
    )[1]
    return n_terms + len(fitted_positions(tree)) + computed


def _prospects(figures: Sequence[tuple[float, int]]) -> int:
    """How many of the simplest may become the choice, given misalignments and parts: up to the first that none beats, and more.

    Longer ones are left as they are. They only stand by to beat shorter ones, and their canonical forms and variants cost most.
    """
    values = [(max(value, PERFECT), parts) for value, parts in figures]
    for place, (value, parts) in enumerate(values):
        if not any(value >= other * FACTOR ** max(more - parts, 1) for other, more in values[place + 1 :]):
            return place + 1 + BEYOND
    return len(values)


def _telling(front: Front) -> list[Candidate]:
    """The candidates that are clearly better than simpler ones, and the best; what differs by a hair is left out."""
    kept: list[Candidate] = []
    for candidate in front:
        if not kept or max(candidate.misalignment, PERFECT) <= PROGRESS * max(kept[-1].misalignment, PERFECT):
            kept.append(candidate)
    if front.best is not None and front.best not in kept and front.best.misalignment > PERFECT:
        kept.append(front.best)
    return kept


def _fitted(forms: Sequence[tuple[Expression, str]], field: GradientField, costs: Costs | None) -> list[Contender]:
    """Contenders of distinct forms, their constants fitted."""
    unique: dict[Tree, tuple[Expression, str]] = {}
    for expression, engine in forms:
        if not expression.tree.is_constant:
            unique.setdefault(expression.tree, (expression, engine))
    expressions = [expression for expression, _ in unique.values()]
    fitted, misalignments = refit(expressions, field)
    return [
        Contender(expression, expression.complexity(costs), count_parts(expression.tree), float(misalignment), engine=engine)
        for expression, misalignment, (_, engine) in zip(fitted, misalignments, unique.values(), strict=True)
        if np.isfinite(misalignment)
    ]


def _loosened(forms: Sequence[tuple[Expression, str]], field: GradientField, costs: Costs | None) -> list[Contender]:
    """The same forms with their plain numbers fitted too, where that helps: a search may have rounded them."""
    plain = [pair for pair in forms if len(free_constants(pair[0])) > len(fitted_positions(pair[0].tree))]
    expressions = [expression for expression, _ in plain]
    fitted, misalignments = refit(
        expressions, field, positions=[[free.position for free in free_constants(expression)] for expression in expressions]
    )
    _, before = refit(expressions, field)
    return [
        Contender(expression, expression.complexity(costs), count_parts(expression.tree), float(after), engine=engine)
        for expression, after, old, (_, engine) in zip(fitted, misalignments, before, plain, strict=True)
        if after < HELPS * old and after > PERFECT
    ]


def _snapped(expression: Expression, errors: Sequence[float]) -> list[Expression]:
    """Snapped forms; numbers that are plain already have no error."""
    known = dict(zip(fitted_positions(expression.tree), errors, strict=False))
    return snapped_forms(expression, errors=[known.get(free.position, 0.0) for free in free_constants(expression)])


def _thinned(contenders: Sequence[Contender]) -> list[Contender]:
    """Those near the front, at most `MOST`, and few of each form: the plainest variants that do not fit much worse."""
    ordered = sorted(contenders, key=lambda c: (c.complexity, c.n_parts, c.misalignment, str(c.expression)))
    best, kept = np.inf, []
    variants: Counter[object] = Counter()
    for contender in ordered:
        form = skeleton(contender.expression.tree)
        if (contender.misalignment <= NEAR * best or contender.misalignment < PERFECT) and variants[form] < VARIANTS:
            kept.append(contender)
            variants[form] += 1
        best = min(best, contender.misalignment)
    if len(kept) > MOST:
        kept = sorted(_most_telling(kept), key=lambda c: (c.complexity, c.n_parts, c.misalignment, str(c.expression)))
    return kept


def _most_telling(contenders: Sequence[Contender]) -> list[Contender]:
    """Thin out what is crowded: first those on the front, then the lowest of the rest."""
    best, on_front, rest = np.inf, [], []
    for contender in contenders:
        (on_front if contender.misalignment < best else rest).append(contender)
        best = min(best, contender.misalignment)
    rest.sort(key=lambda c: (c.misalignment, c.order))
    return [*on_front, *rest][:MOST]
