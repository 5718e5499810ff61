"""Symmetries of formulas whose algebras are known: on exact fields, on small networks trained on
them, and on fields without any.

The expected translations and generators come from exact linear algebra over the rational numbers
(50 digits where a formula has no rational values), without the package's own code.

``python bench/scripts/symmetries.py exact --seed 0``
``python bench/scripts/symmetries.py networks --seed 0``
``python bench/scripts/symmetries.py controls --seed 0``
``python bench/scripts/symmetries.py noise --seed 0``
``python bench/scripts/symmetries.py broken --seed 0``
``python bench/scripts/symmetries.py time``
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from scipy.linalg import subspace_angles

import closedform as cf
from closedform.arrays import FloatArray
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas.trained import ACTIVATIONS, N_READ, N_TRAINING, trained_field
from closedform_bench.invariants.control import random_waves
from closedform_bench.invariants.fields import exact_field
from closedform_bench.invariants.system_catalogue import SYSTEMS
from closedform_bench.verdicts.small_networks import untrained

N_EXACT = 1500
WIDEST = 2.0
"""Degrees that may lie between the found span and the true one."""

READ: Any = sympy.sympify
"""Its types say nothing of text."""

DIGITS, ZERO = 60, sympy.Rational(1, 10**40)

PLAIN = (
    ("x y", "x**2 + y**2"), ("x y", "x*y"), ("x y", "x**2 - y**2"), ("x y", "x + 2*y"),
    ("x y", "(x - 1)**2 + 2*(y + 1/2)**2"), ("x y", "x**2*y**3"), ("x y", "y - x**2"),
    ("x y", "exp(x)*y"), ("x y z", "x**2 + y**2 + z**2"), ("x y z", "x**2 + y**2 + sin(z)"),
    ("x y z", "x*y*z"), ("x y z", "x*y + z**2"), ("x y z", "(x - y)*z"), ("x y z", "x**2 + y**3"),
    ("x y z", "sin(x - y) + z**2"), ("x y z", "x**2 + y**2 - z"), ("x y z", "exp(x + 2*y) + z"),
    ("x y z w", "x*w - y*z"), ("x y z w", "(x - y)/(z - w)"), ("x y z w", "sin(x - y) + z*w"),
    ("t x y z", "t**2 - x**2 - y**2 - z**2"), ("a b c d", "(a - c)**2 + (b - d)**2"),
    ("x y z u v w", "x*u + y*v + z*w"),
    ("a b c d e f", "(a - d)**2 + (b - e)**2 + (c - f)**2"),
)  # fmt: skip
"""Inputs and a formula of them."""

BENCH = (
    "saddle", "curved", "matrices", "traceless", "antisymmetric", "cross-ratio", "quadratic-form",
    "cubic-form", "quartic-form", "elliptic", "two-qubits", "hyperdeterminant",
)  # fmt: skip
"""InvariantBench's algebraic systems."""

WITHOUT = (
    ("x y", "x + y**3 + x*sin(2*y)"), ("x y", "x**4 + y**2 + x*y"), ("x y", "sin(x) + y**3 + x*y"),
    ("x y", "exp(x*y) + x"), ("x y", "x**3 + x*y**2 + y"), ("x y", "cos(x)*y + sin(y)"),
    ("x y z", "sin(x) + y**3 + x*z + cos(z)"), ("x y z", "x**4 + y**4 + z**4 + x*y*z + x"),
    ("x y z", "exp(x*y) + sin(z) + x*z"), ("x y z", "x**3*y + z**2*x + sin(y) + cos(z)"),
    ("x y z", "sin(x*y) + cos(y*z) + x + z**3"), ("x y z w", "sin(x)*y + cos(z)*w + x*z + y**3*w"),
    ("x y z w", "exp(x*y) + sin(z*w) + x**3 + z**3 + w"), ("x y", "x**2 + 2*y**2 + x**4*y/2"),
    ("x y", "sqrt(x**2 + 1) + y**3 + x*y/2"), ("x y", "x**2*y + cos(2*x) + y"),
    ("x y z", "x*y + y*z**2 + sin(x) + z"), ("x y z", "x**2 + y**2 + z**2 + x**3*y/2 + sin(2*z)"),
    ("x y", "x**2 + y**2 + 0.1*x**4"), ("x y", "x**2 + y**2 + 0.1*x*y**3"),
)  # fmt: skip
"""Formulas without an affine symmetry, which the script checks by the same algebra."""


@dataclass(frozen=True)
class Truth:
    """Translations, and the generators on what they leave."""

    translations: FloatArray  # (t, d)
    onto: FloatArray  # (left, d): from inputs to coordinates of what is left
    lift: FloatArray  # (d, left): back
    generators: FloatArray  # (p, left, left + 1)

    @property
    def dimension(self) -> int:
        """Translations and generators."""
        return len(self.translations) + len(self.generators)

    def angle(self, found: cf.Symmetries) -> float:
        """Degrees between the found spans and the true ones; 90 if dimensions differ."""
        t = found.n_translations
        if (t, found.dimension - t) != (len(self.translations), len(self.generators)):
            return 90.0
        matrices = np.array([one.matrix for one in found.generators])
        angles = [0.0]
        if t:
            angles.append(_largest(matrices[:t, :, -1], self.translations))
        if len(self.generators):
            projected = [
                np.column_stack([self.onto @ m[:, :-1] @ self.lift, self.onto @ m[:, -1]]).ravel()
                for m in matrices[t:]
            ]
            true = self.generators.reshape(len(self.generators), -1)
            angles.append(_largest(np.array(projected), true))
        return max(angles)


def _largest(rows: FloatArray, others: FloatArray) -> float:
    return float(np.degrees(subspace_angles(rows.T, others.T).max()))


def known_algebra(names: list[str], formulas: list[str], constraints: list[str]) -> Truth:
    """By linear algebra with exact numbers, from gradients at random rational points."""
    symbols = sympy.symbols(names)
    texts = dict(zip(names, symbols, strict=True))
    functions = [READ(text, locals=texts, rational=True) for text in formulas]
    planes = [READ(text.split("=")[0], locals=texts) for text in constraints]
    # On a plane the inputs are those of the plane, by its own coordinates.
    into = sympy.eye(len(names))
    if planes:
        rows = sympy.Matrix([[plane.diff(s) for s in symbols] for plane in planes])
        into = sympy.Matrix.hstack(*rows.nullspace())
    inner = sympy.symbols(f"q0:{into.cols}")
    inside = [
        f.subs(dict(zip(symbols, into * sympy.Matrix(inner), strict=True))) for f in functions
    ]
    shifts = _null(inside, inner, constant=True)
    chosen, back = _complement(shifts, into.cols)
    left = sympy.symbols(f"y0:{back.cols}")
    reduced = [f.subs(dict(zip(inner, back * sympy.Matrix(left), strict=True))) for f in inside]
    fields = _null(reduced, left, constant=False)
    outer = np.array(into.tolist(), dtype=float)
    onto = np.array(chosen.tolist(), dtype=float) @ np.linalg.pinv(outer)
    return Truth(
        np.array(shifts.T.tolist(), dtype=float).reshape(shifts.cols, into.cols) @ outer.T,
        onto,
        outer @ np.array(back.tolist(), dtype=float),
        np.array(fields.T.tolist(), dtype=float).reshape(-1, back.cols, back.cols + 1),
    )


def _null(functions: list[sympy.Expr], symbols: tuple, *, constant: bool) -> sympy.Matrix:
    """Columns: the constant or affine fields along which no function changes."""
    gradients = [[f.diff(s) for s in symbols] for f in functions]
    quick = sympy.lambdify(symbols, gradients, "sympy")
    rng, rows = np.random.default_rng(0), []
    size = len(symbols) * (1 if constant else len(symbols) + 1)
    while len(rows) < 2 * size + 10:
        place = [sympy.Rational(int(n), 7) for n in rng.integers(1, 40, len(symbols))]
        factors = [sympy.Integer(1)] if constant else [*place, sympy.Integer(1)]
        slopes = [[sympy.sympify(slope) for slope in row] for row in quick(*place)]
        if any(slope.is_finite is False or slope is sympy.nan for row in slopes for slope in row):
            continue
        for row in slopes:
            rows.append([slope * factor for slope in row for factor in factors])
    table = sympy.Matrix(rows)
    if all(entry.is_rational for entry in table.flat()):
        from sympy.polys.matrices import DomainMatrix

        basis = DomainMatrix.from_Matrix(table).to_field().nullspace().to_Matrix()
        return basis.T if basis.rows else sympy.zeros(size, 0)
    return _null_of_decimals(table.evalf(DIGITS), size)


def _null_of_decimals(table: sympy.Matrix, size: int) -> sympy.Matrix:
    """By elimination with the largest pivots; what is left below 1e-40 is 0."""
    rows, pivots = table.tolist(), []
    for column in range(size):
        start = len(pivots)
        best = max(range(start, len(rows)), key=lambda k: abs(rows[k][column]))
        if abs(rows[best][column]) < ZERO:
            continue
        rows[start], rows[best] = rows[best], rows[start]
        lead = rows[start][column]
        rows[start] = [entry / lead for entry in rows[start]]
        for k, row in enumerate(rows):
            if k != start and row[column] != 0:
                factor = row[column]
                rows[k] = [a - factor * b for a, b in zip(row, rows[start], strict=True)]
        pivots.append(column)
    free = [column for column in range(size) if column not in pivots]
    basis = sympy.zeros(size, len(free))
    for place, column in enumerate(free):
        basis[column, place] = 1
        for row, pivot in enumerate(pivots):
            basis[pivot, place] = -rows[row][column]
    return basis


def _complement(shifts: sympy.Matrix, size: int) -> tuple[sympy.Matrix, sympy.Matrix]:
    """Coordinates that translations do not change, (left, d), and a way back, (d, left)."""
    if not shifts.cols:
        return sympy.eye(size), sympy.eye(size)
    rounded = shifts.applyfunc(lambda value: sympy.nsimplify(value, rational=True, tolerance=1e-20))
    onto = (
        sympy.Matrix.hstack(*rounded.T.nullspace()).T
        if shifts.cols < size
        else sympy.zeros(0, size)
    )
    return onto, onto.pinv()


@dataclass(frozen=True)
class Case:
    """A formula, or several, with points."""

    name: str
    names: list[str]
    formulas: list[str]
    constraints: list[str]
    bench: str = ""

    def points(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Where it is looked at."""
        if self.bench:
            return SYSTEMS[self.bench].points(n, rng)
        points = rng.uniform(-2, 2, (n, len(self.names)))
        if "/(z - w)" in self.formulas[0]:
            points[:, 2] = points[:, 3] + rng.uniform(0.5, 2, n)
        return points

    def expressions(self) -> list[cf.Expression]:
        """The formulas."""
        return [cf.parse(text, names=self.names) for text in self.formulas]


def cases() -> Iterator[Case]:
    """All formulas with known algebras."""
    for names, formula in PLAIN:
        yield Case(formula, names.split(), [formula], [])
    for name in BENCH:
        system = SYSTEMS[name]
        yield Case(
            name, list(system.inputs), list(system.invariants), list(system.constraints), name
        )


def report(case: Case, truth: Truth, found: cf.Symmetries, told: str = "") -> bool:
    """One line; whether dimension and span are right."""
    angle = truth.angle(found)
    right = angle < WIDEST
    broken = max((one.broken.degrees for one in found.generators), default=0.0)
    print(
        f"{'right' if right else 'WRONG'}  {case.name:42s} {told} expected "
        f"{len(truth.translations)}+{len(truth.generators)}, found {found.n_translations}"
        f"+{found.dimension - found.n_translations} [{found.name}], angle {angle:.2g}, broken by "
        f"{broken:.2g}, {found.seconds:.2f} s",
        flush=True,
    )
    return right


def run_exact(seed: int, degrees: float = 0.0) -> None:
    """The exact fields, or noisy ones."""
    right = of = 0
    for place, case in enumerate(cases()):
        rng = np.random.default_rng([seed, place])
        truth = known_algebra(case.names, case.formulas, case.constraints)
        field = exact_field(
            case.expressions(), case.points(N_EXACT, rng), case.names,
            constraints=case.constraints, degrees=degrees, rng=rng,
        )  # fmt: skip
        right += report(case, truth, cf.symmetries(field, rng=seed))
        of += 1
    print(f"right: {right} of {of}")


def run_networks(seed: int) -> None:
    """Networks of one output, trained on formulas of one value; activations in turn."""
    right = of = 0
    for place, case in enumerate(cases()):
        if len(case.formulas) > 1 or case.constraints:
            continue
        rng = np.random.default_rng([seed, place])
        truth = known_algebra(case.names, case.formulas, [])
        activation = list(ACTIVATIONS)[place % 3]
        points, held = case.points(N_TRAINING, rng), case.points(N_READ, rng)
        formula = case.expressions()[0]
        field = trained_field(points, formula(points), held, case.names, rng, activation=activation)
        off = np.degrees(np.arcsin(np.sqrt(np.median(field_misalignment(formula, field)))))
        told = f"{activation}, {off:.1f} degrees off,"
        right += report(case, truth, cf.symmetries(field, rng=seed), told)
        of += 1
    print(f"right: {right} of {of}")


def controls(seed: int) -> Iterator[tuple[str, cf.GradientField]]:
    """20 formulas without a symmetry, 30 untrained networks, 10 random smooth functions."""
    for place, (names, formula) in enumerate(WITHOUT):
        rng = np.random.default_rng([seed, place])
        points = rng.uniform(-2, 2, (N_EXACT, len(names.split())))
        parsed = cf.parse(formula, names=names.split())
        assert known_algebra(names.split(), [formula], []).dimension == 0, formula
        yield (
            formula,
            cf.GradientField.from_arrays(
                points, parsed.gradient(points), latents=parsed(points), names=names.split()
            ),
        )
    for place in range(30):
        rng = np.random.default_rng([seed, 100 + place])
        activation = ("silu", "gelu", "tanh", "relu")[place % 4]
        points = rng.uniform(-2, 2, (N_EXACT, 2 + place % 4))
        network = untrained(points, activation, rng, gain=(1.0, 3.0)[place % 2])
        names = [f"x{k}" for k in range(points.shape[1])]
        yield f"untrained {activation}", network.field(points, names)
    for place in range(10):
        rng = np.random.default_rng([seed, 200 + place])
        points = rng.uniform(-2, 2, (N_EXACT, 2 + place % 3))
        values, gradients = random_waves(points, rng)
        yield "random waves", cf.GradientField.from_arrays(points, gradients, latents=values)


def run_controls(seed: int) -> None:
    """Whatever is found is false."""
    false = of = 0
    for name, field in controls(seed):
        found = cf.symmetries(field, rng=seed)
        near = "" if found.nearest is None else f"{found.nearest.broken.degrees:.2g}"
        flag = "FALSE" if found.dimension else "none "
        print(f"{flag} {name} ({len(field.names)} inputs) nearest {near} {found.name}", flush=True)
        false += found.dimension > 0
        of += 1
    print(f"false: {false} of {of}")


def run_broken(seed: int) -> None:
    """A rotation broken by 0.02*x**4: its angle, against that at a million other points."""
    rng = np.random.default_rng([seed, 77])
    formula = cf.parse("x**2 + y**2 + 0.02*x**4", names=["x", "y"])
    points, dense = rng.uniform(-2, 2, (N_EXACT, 2)), rng.uniform(-2, 2, (10**6, 2))
    field = cf.GradientField.from_arrays(
        points, formula.gradient(points), latents=formula(points), names=["x", "y"]
    )
    found = cf.symmetries(field, stated=["x*d_y - y*d_x"], rng=seed)
    for one in (*found.stated, *((found.nearest,) if found.nearest is not None else ())):
        gradients = formula.gradient(dense) * field.scale
        vectors = (dense @ one.matrix[:, :-1].T + one.matrix[:, -1]) / field.scale
        lengths = np.linalg.norm(gradients, axis=1)
        sines = (
            np.einsum("nd,nd->n", gradients, vectors) / lengths / np.linalg.norm(vectors, axis=1)
        )
        weights = np.minimum(lengths / np.median(lengths), 1.0) ** 2
        true = float(np.degrees(np.arcsin(np.sqrt(np.average(sines**2, weights=weights)))))
        print(f"{one}: {one.broken}; true {true:.3g}, counted: {one.broken.holds}")
    print(f"dimension {found.dimension}")


def run_time() -> None:
    """Seconds of the processor for more and more points."""
    rng = np.random.default_rng(0)
    for n in (1000, 2000, 4000, 8000, 16000, 64000, 256000):
        points = rng.uniform(-2, 2, (n, 4))
        field = cf.GradientField.from_arrays(points, points * [1, -1, -1, -1], tangent="none")
        start = time.process_time()
        cf.symmetries(field, rng=0)
        print(f"{n} points: {time.process_time() - start:.2f} s", flush=True)


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "part", choices=["exact", "networks", "controls", "noise", "broken", "time"]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--degrees", type=float, default=3.0, help="noise of the part noise")
    asked = parser.parse_args()
    if asked.part == "exact":
        run_exact(asked.seed)
    elif asked.part == "noise":
        run_exact(asked.seed, asked.degrees)
    elif asked.part == "networks":
        run_networks(asked.seed)
    elif asked.part == "controls":
        run_controls(asked.seed)
    elif asked.part == "broken":
        run_broken(asked.seed)
    else:
        run_time()


if __name__ == "__main__":
    main()
