"""The numbers of this room."""

BY_PLACE = 0.95
"""Share of a breaking that a polynomial of the place, fitted to other points, explains from which
on a term of the concept breaks the symmetry. A network's own error is rougher: of 24 true
symmetries of 12 small networks it explained at most 0.91; where three formulas without one, and
their networks, break the nearest, 0.95 and more, but for one network whose error was as large as
the term."""

SMALLEST_TERM = 0.3
"""Degrees below which a breaking counts as a network's own error however smooth it is: a network
trained on x + 2*y breaks its translation by 0.1, and smoothly, for all that it learned is smooth.
"""

LARGEST_ERROR = 3.0
"""Degrees by which a network's own error may break a symmetry: small networks of smooth activations
leave about 1. Those of ReLU leave 3 to 5, which is given up: with 5, a network trained on the cross
ratio was given a translation that it has not."""

PLAIN_DENOMINATOR = 4
"""Coefficients of generators are tried as fractions of such denominators, as constants of formulas
are."""

N_ORDERS = 24
"""Orders of the terms in which sparse generators are looked for: each gives a whole basis,
and the cheapest vectors of all are kept."""

ROUGH_PARTS, EXACT_PARTS = (0.03, 0.1, 0.2), (1e-4,)
"""Terms with a smaller share of a generator's largest are left out, in fields with errors and in
exact ones."""

CLOSES = 0.05
"""Share of a commutator that may lie outside the generators' span: fitted coefficients are known to
a few per cent."""

MOST_INPUTS = 40
"""With these the affine fields are 1,640, and their moments grow with the square of that; more were
not tried."""
