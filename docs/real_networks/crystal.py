"""CHGNet, a published force field: what the energy of a strained crystal depends on."""

import contextlib
import warnings

import numpy as np
from chgnet.model import CHGNet
from pymatgen.core import Lattice, Structure

import closedform as cf

warnings.filterwarnings("ignore", category=UserWarning)
with contextlib.redirect_stdout(None):  # it prints its version
    network = CHGNet.load(use_device="cpu", verbose=False)
HALF = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]) / 2


def stress(lengths):
    """Diagonal stresses in GPa of MgO with edges a, b, c in angstrom, (n, 3)."""
    cells = [
        Structure(Lattice(HALF * edges), ["Mg", "O"], [[0, 0, 0], [0.5, 0.5, 0.5]])
        for edges in lengths
    ]
    predictions = network.predict_structure(cells, task="efs", batch_size=50)
    if isinstance(predictions, dict):  # of a single cell
        predictions = [predictions]
    return np.array([np.diag(one["s"]) for one in predictions], dtype=float)


# The edge without stress, by the secant method.
first, a = 4.20, 4.25
pressure = stress([[first] * 3])[0].mean()
for _ in range(6):
    now = stress([[a] * 3])[0].mean()
    if abs(now) < 1e-3 or now == pressure:
        break
    first, pressure, a = a, now, a - now * (a - first) / (now - pressure)
print(f"edge without stress: {a:.4f} A (measured 4.211)")

# Stiffnesses, from small strains along one axis.
step = 0.002
pulled, pushed = stress(a * (1 + np.array([[step, 0, 0], [-step, 0, 0]])))
along, across = (pulled - pushed)[0], (pulled - pushed)[1:].mean()
c11, c12 = along / (2 * step), across / (2 * step)
print(f"C11 = {c11:.0f} GPa (measured 298), C12 = {c12:.0f} GPa (measured 97)")

rng = np.random.default_rng(0)
measured = 2 * 97.0 / 297.8
theory = f"e**2 + f**2 + g**2 + {measured:.3f}*(e*f + f*g + e*g)"
for name, width in (("near", 0.01), ("far", 0.08)):
    strains = rng.uniform(-width, width, (200, 3))
    edges = 1 + strains
    gradients = stress(a * edges) * edges.prod(1, keepdims=True) / edges  # of the energy
    field = cf.GradientField.from_arrays(strains, gradients, names=["e", "f", "g"])
    answer = cf.interpret_field(field, budget=30, rng=0, progress=False)
    print(f"\n{name} equilibrium (strains e, f, g of the three edges within {100 * width:.0f}%)")
    print(" ", answer.concept, "--", answer.verdict.status)
    print(f"  median angle {answer.alignment.angles[0]:.2f} degrees")
    known = cf.verify(theory, field, rivals=None)
    print(f"  theory, {theory}: median angle {known.alignment.angles[0]:.2f} degrees")
