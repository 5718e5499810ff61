import pytest

import closedform as cf
from closedform.expressions.legality import Legality, carried_constants
from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.feynman_units import units_of


@pytest.mark.parametrize("name", EQUATIONS)
def test_every_truth_is_possible_in_its_units(name: str) -> None:
    truth, ranges = EQUATIONS[name]
    names = list(ranges)
    units = cf.Units(units_of(name, names))
    tree = cf.parse(truth, names=names).tree
    assert Legality(units, may_carry=False).allows(tree, names)
    assert carried_constants(tree, units, names) == ()
