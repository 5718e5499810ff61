"""From fitted sums to formulas: those that may be on the front are written out, the others are not
worth the work.
"""

from collections.abc import Sequence

from closedform.expressions.complexity import complexity
from closedform.expressions.tree import Tree
from closedform.field.alignment.eigen import CoefficientFit
from closedform.field.alignment.tolerances import PERFECT
from closedform.searching.space import SearchSpace
from closedform.searching.terms.judged_sums import NEAR, Formula, Steps
from closedform.searching.terms.library import Term
from closedform.searching.terms.sum_formula import Sum, sums, write
from closedform.searching.terms.term_beam import Support, TermBeam


def drafted(
    library: Sequence[Term],
    beam: TermBeam,
    fits: Sequence[CoefficientFit],
    known: Steps,
    space: SearchSpace,
    names: Sequence[str],
) -> dict[Tree, Formula]:
    """Write the fits of a beam as formulas.

    Parameters
    ----------
    library : sequence of Term
        To which the beam's supports point.
    beam : TermBeam
    fits : sequence of CoefficientFit
        One for each support.
    known : Steps
        The best misalignment of each complexity so far: what is far above it is left out.
    space : SearchSpace
    names : sequence of str
        Inputs.

    Returns
    -------
    dict of Tree to Formula
        What the space allows, with plain and with rounded numbers.
    """
    number = space.costs.constant + space.costs.of("mul")
    drafts: list[tuple[int, float, Support, Sum]] = []
    for support, least, fit in zip(beam.supports, beam.sizes, fits, strict=False):
        drafts += [
            (least + number * d.n_numbers, fit.misalignment, support, d)
            for d in sums(fit.coefficients, fit.shares)
        ]
    own = Steps(
        (size, value) for size, value, support, draft in drafts if len(draft.places) == len(support)
    )
    made: dict[Tree, Formula] = {}
    for expected, value, support, draft in drafts:
        if value > max(NEAR * min(known.best(expected), own.best(expected)), PERFECT):
            continue
        terms = [library[k] for k in support]
        tree = write(draft, [term.tree for term in terms])
        size = complexity(tree, space.costs)
        if size <= space.max_complexity and _allows(space, tree, terms, names):
            made[tree] = Formula(frozenset(term.tree for term in terms), size)
    return made


def _allows(space: SearchSpace, tree: Tree, terms: Sequence[Term], names: Sequence[str]) -> bool:
    if any(term.is_given for term in terms):
        is_possible = space.legality is None or space.legality.allows(tree, names)
        return is_possible and space.has_form(tree, names)
    return space.allows(tree, names)
