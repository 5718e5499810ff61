"""Systems of pairs that are related by a group, or lie on one level set."""

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.parse import parse
from closedform_bench.invariants import group_actions as groups
from closedform_bench.invariants.sampling import box, moved_within
from closedform_bench.invariants.system import Points, System
from closedform_bench.paper.matrices import entry_names

_SADDLE, _SADDLE_INPUTS = "x - 3*y*z + w**2/2", ("x", "y", "z", "w")
_CURVED, _CURVED_INPUTS = "3*x + 2*sin(y) + sqrt(x)*z**3", ("x", "y", "z")
_ENTRIES = entry_names(3)
_SECOND = "A11*A22 + A11*A33 + A22*A33 - A12*A21 - A13*A31 - A23*A32"
_DETERMINANT = "A11*(A22*A33 - A23*A32) - A12*(A21*A33 - A23*A31) + A13*(A21*A32 - A22*A31)"
_ABOVE = ("A12", "A13", "A14", "A23", "A24", "A34")
_LINE = ("x1", "x2", "x3", "x4")
_COMPLEX = ("ar", "ai", "br", "bi", "cr", "ci", "dr", "di")
_TENSOR = tuple(f"a{i}{j}{k}" for i in (0, 1) for j in (0, 1) for k in (0, 1))
_HYPERDETERMINANT = (
    "a000**2*a111**2 + a001**2*a110**2 + a010**2*a101**2 + a100**2*a011**2"
    " - 2*(a000*a001*a110*a111 + a000*a010*a101*a111 + a000*a100*a011*a111"
    " + a001*a010*a101*a110 + a001*a100*a011*a110 + a010*a100*a011*a101)"
    " + 4*(a000*a011*a101*a110 + a001*a010*a100*a111)"
)
_CUBIC_DISCRIMINANT = "b**2*c**2 - 4*a*c**3 - 4*b**3*d - 27*a**2*d**2 + 18*a*b*c*d"


def _traceless(n: int, rng: np.random.Generator) -> FloatArray:
    matrices = rng.uniform(-1, 1, (n, 3, 3))
    matrices -= np.trace(matrices, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    return matrices.reshape(n, 9)


def _is_ordered(points: FloatArray) -> np.ndarray:
    return np.diff(points, axis=1).min(axis=1) > 0.2


def _normal(n_inputs: int) -> Points:
    return lambda n, rng: rng.normal(size=(n, n_inputs))


ALGEBRAIC_SYSTEMS = (
    System(
        "saddle", "level sets of x - 3yz + w^2/2", "algebraic", _SADDLE_INPUTS, (_SADDLE,),
        box(-2, 2, 4), groups.level_set_walk(parse(_SADDLE, _SADDLE_INPUTS)),
    ),
    System(
        "curved", "level sets of 3x + 2 sin y + sqrt(x) z^3", "algebraic", _CURVED_INPUTS,
        (_CURVED,),
        box((0.2, -2, -2), (3, 2, 2), 3), groups.level_set_walk(parse(_CURVED, _CURVED_INPUTS)),
    ),
    System(
        "matrices", "3x3 matrices under similarity", "algebraic", _ENTRIES,
        ("A11 + A22 + A33", _SECOND, _DETERMINANT),
        box(-1, 1, 9), groups.similarity(3),
    ),
    System(
        "traceless", "3x3 matrices without a trace under similarity", "algebraic", _ENTRIES,
        (_SECOND, _DETERMINANT),
        _traceless, groups.similarity(3), ("A11 + A22 + A33 = 0",),
    ),
    System(
        "antisymmetric", "antisymmetric 4x4 matrices under rotations", "algebraic", _ABOVE,
        ("A12*A34 - A13*A24 + A14*A23", " + ".join(f"{name}**2" for name in _ABOVE)),
        _normal(6), groups.antisymmetric_rotation(4),
    ),
    System(
        "cross-ratio", "four points under Moebius maps", "algebraic", _LINE,
        ("(x1 - x3)*(x2 - x4)/((x1 - x4)*(x2 - x3))",),
        box(-2, 2, 4, _is_ordered),
        moved_within(groups.moebius, lambda x: _is_ordered(x) & (np.abs(x) < 4).all(axis=1)),
    ),
    System(
        "quadratic-form", "binary quadratics under SL(2)", "algebraic", ("a", "b", "c"),
        ("b**2 - 4*a*c",),
        _normal(3), groups.binary_form,
    ),
    System(
        "cubic-form", "binary cubics under SL(2)", "algebraic", ("a", "b", "c", "d"),
        (_CUBIC_DISCRIMINANT,),
        _normal(4), groups.binary_form,
    ),
    System(
        "quartic-form", "binary quartics under SL(2)", "algebraic", ("a", "b", "c", "d", "e"),
        ("12*a*e - 3*b*d + c**2", "72*a*c*e + 9*b*c*d - 27*a*d**2 - 27*e*b**2 - 2*c**3"),
        _normal(5), groups.binary_form,
    ),
    System(
        "elliptic", "elliptic curves, (a, b) -> (u^4 a, u^6 b)", "algebraic", ("a", "b"),
        ("a**3/(4*a**3 + 27*b**2)",),
        box(0.5, 2, 2), groups.weighted_scaling((4, 6)),
    ),
    System(
        "two-qubits", "complex 2x2 matrices under SU(2) x SU(2)", "algebraic", _COMPLEX,
        (" + ".join(f"{name}**2" for name in _COMPLEX), "ar*dr - ai*di - br*cr + bi*ci",
         "ar*di + ai*dr - br*ci - bi*cr"),
        _normal(8), groups.two_unitaries,
    ),
    System(
        "hyperdeterminant", "2x2x2 tensors under SL(2)^3", "algebraic", _TENSOR,
        (_HYPERDETERMINANT,),
        _normal(8), groups.three_substitutions,
    ),
)  # fmt: skip
