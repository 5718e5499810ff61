"""Sums of curves of one quantity each, found by values.

Where z = phi(g) and g is a sum of functions of one quantity each, splines of z and of the
quantities find all these functions at once, with no library: they are the sum that correlates best
with a smooth function of z. Each curve is then read by itself, the constants inside it included. A
product is a sum of logarithms.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from closedform.expressions.evaluate import evaluate
from closedform.expressions.tree import Tree
from closedform.field.gradient_field import GradientField
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import wider_forms
from closedform.searching.values.curve_reading import curves_of, formulas_of, read_curve
from closedform.searching.values.quantity_sets import Part, QuantitySet, sets_of, shortest
from closedform.searching.values.splines import YARDSTICK, latent_of, values_left

FEWEST = 300
"""Points of half of the values that are looked at by themselves."""

TOLD = 40
"""Formulas of each set."""


def curve_sums(field: GradientField, pieces: int, space: SearchSpace) -> Iterator[list[Tree]]:
    """The likeliest formulas of some sets of quantities, set by set."""
    found = [one for some in _parts(field) for one in sets_of(Part.of(some, pieces, space))]
    for chosen in _to_read(found):
        readings = [
            read_curve(
                place, basis, curve, wider_forms(basis.quantity, space), chosen.part.steepness,
                evaluate(basis.quantity.tree, field.points),
            )
            for place, (basis, curve) in enumerate(curves_of(chosen.bases, chosen.part.smooth))
        ]  # fmt: skip
        trees = list(formulas_of(readings, field.points, chosen.trees))
        lengths = [
            YARDSTICK.of(tree, left)
            for tree, left in zip(trees, values_left(trees, field), strict=True)
        ]
        yield [trees[place] for place in np.argsort(lengths, kind="stable")[:TOLD]]


def _to_read(found: Sequence[QuantitySet]) -> list[QuantitySet]:
    """The shortest, and the inputs at the same points as the best: of products with an input in
    place of another the logarithms are the same sums.
    """
    kept = shortest(found)
    inputs = [one for one in found if one.part is kept[0].part and one.is_plain] if kept else []
    return list({one.key: one for one in (*kept, *inputs)}.values())


def _parts(field: GradientField) -> Iterator[GradientField]:
    """All points, and those of the larger and the smaller values: where a factor changes its sign,
    its logarithm has a pole among all of them.
    """
    yield field
    latent = latent_of(field)
    middle = np.median(latent)
    for kept in (latent >= middle, latent <= middle):
        if kept.sum() >= FEWEST:
            yield field.subset(np.flatnonzero(kept))
