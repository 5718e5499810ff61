"""ANI-1x, a published force field: which motions of a water molecule change nothing."""

from pathlib import Path

import numpy as np
import torch
import torchani
from scipy.spatial.transform import Rotation
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
ATOMS = {atom: [f"{atom}{axis}" for axis in "xyz"] for atom in ("o", "h", "k")}
N_MOLECULES, BOND, ANGLE = 2000, 0.9662, 1.805  # angstrom and radians: the network's equilibrium

rng = np.random.default_rng(0)
flat = [[0, 0, 0], [BOND, 0, 0], [BOND * np.cos(ANGLE), BOND * np.sin(ANGLE), 0]]
bent = np.array(flat) + rng.uniform(-0.15, 0.15, (N_MOLECULES, 3, 3))
turned = np.einsum("nij,nbj->nbi", Rotation.random(N_MOLECULES, random_state=0).as_matrix(), bent)
places = turned + rng.uniform(-1, 1, (N_MOLECULES, 1, 3))

inputs = torch.tensor(places, requires_grad=True)
energies = network((SPECIES.expand(N_MOLECULES, 3), inputs)).energies
(gradients,) = torch.autograd.grad(energies.sum(), inputs)
field = cf.GradientField.from_arrays(
    places.reshape(-1, 9),
    gradients.numpy().reshape(-1, 9),
    latents=energies.detach().numpy(),
    names=[name for names in ATOMS.values() for name in names],
    tangent="none",
)
found = cf.symmetries(field, groups=ATOMS, rng=0)
print(found.headline)
for one in found.generators:
    print(f"  {one} -- {one.kind}, {one.broken}, alike in {', '.join(one.groups) or 'no group'}")
