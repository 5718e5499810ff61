"""ANI-1x, a published force field: what the energy of a water molecule depends on."""

from pathlib import Path

import numpy as np
import torch
import torchani
from torchani.neurochem import Constants, load_model_ensemble, load_sae

import closedform as cf

# The package's own loader downloads; the weights are in the wheel.
FILES = Path(torchani.__file__).parent / "resources" / "ani-1x_8x"
constants = Constants(str(next(FILES.glob("*.params"))))
network = torch.nn.Sequential(
    torchani.AEVComputer(**constants),
    load_model_ensemble(constants.species, str(FILES / "train"), 8),
    load_sae(str(FILES / "sae_linfit.dat")),
).double()
SPECIES = constants.species_to_tensor(["O", "H", "H"])


def energy(stretches):
    """In hartree, of two bond lengths in angstrom and an angle in radians, (n, 3)."""
    first, second, angle = stretches.unbind(1)
    nothing = torch.zeros_like(first)
    oxygen = torch.stack([nothing, nothing, nothing], 1)
    one = torch.stack([first, nothing, nothing], 1)
    two = torch.stack([second * torch.cos(angle), second * torch.sin(angle), nothing], 1)
    places = torch.stack([oxygen, one, two], 1)
    return network((SPECIES.expand(len(first), 3), places)).energies


def total(stretches):
    """Of one geometry."""
    return energy(stretches[None])[0]


# The equilibrium, by Newton's method on the symmetric geometry.
place = torch.tensor([0.96, 0.96, 1.82], dtype=torch.float64)
for _ in range(20):
    slope = torch.func.grad(total)(place)
    bend = torch.func.hessian(total)(place)
    place = place - torch.linalg.solve(bend, slope)
r, angle = float(place[:2].mean()), float(place[2])
print(f"equilibrium: r = {r:.4f} A (measured 0.9572), angle = {np.degrees(angle):.2f} (104.52)")
hartree = 4.3597447  # mdyn A
print(
    f"force constants in mdyn/A: stretch {float(bend[0, 0]) * hartree:.2f} (measured 8.45), ",
    f"bend {float(bend[2, 2]) * hartree / r**2:.3f} (measured 0.761)",
    sep="",
)

rng = np.random.default_rng(0)
for name, width in (("near", (0.01, 0.01, 0.02)), ("far", (0.15, 0.15, 0.35))):
    shifts = rng.uniform(-1, 1, (800, 3)) * width
    points = torch.tensor(shifts + np.array([r, r, angle]), requires_grad=True)
    (gradients,) = torch.autograd.grad(energy(points).sum(), points)
    field = cf.GradientField.from_arrays(shifts, gradients.numpy(), names=["s", "t", "b"])
    answer = cf.interpret_field(field, budget=cf.Budget(evaluations=4000), rng=0, progress=False)
    print(
        f"\n{name} equilibrium (s, t: stretches within {width[0]} A; b: bend within {width[2]} rad)"
    )
    print(" ", answer.concept, "--", answer.verdict.status)
    print(f"  median angle {answer.alignment.angles[0]:.2f} degrees")
    harmonic = cf.verify("s**2 + t**2 + 0.0826*b**2", field, rivals=None)
    print(f"  theory, {harmonic.concept}: median angle {harmonic.alignment.angles[0]:.2f} degrees")
