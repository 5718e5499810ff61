"""Critical volumes of real substances: a network on measured data finds corresponding states."""

import chemicals
import numpy as np
import torch
from chemicals import critical

import closedform as cf

chemicals.Tc("7732-18-5")  # loads the tables
table = critical.critical_data_IUPAC.dropna(subset=["Tc", "Pc", "Vc"])
table = table[(table["Tc"] > 150) & (table["Pc"] < 1e7)]
inputs = np.stack([table["Tc"], table["Pc"] / 1e5], axis=1).astype(np.float32)  # K, bar
targets = np.log(table["Vc"].to_numpy() * 1e6).astype(np.float32)  # cm3/mol
print(f"{len(table)} substances with measured Tc, Pc and Vc (IUPAC)")

torch.manual_seed(0)
given, wanted = torch.tensor(inputs), torch.tensor(targets)[:, None]
centre, spread = given.log().mean(0), given.log().std(0)


class Network(torch.nn.Module):
    """Two layers of 32 neurons on the logarithms of the inputs."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(),
            torch.nn.Linear(32, 1),
        )  # fmt: skip

    def forward(self, x):
        """The logarithm of the volume."""
        return self.layers((x.log() - centre) / spread)


network = Network()
trainer = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=0.1)
held = torch.arange(len(given)) % 5 == 0
for _ in range(1500):
    trainer.zero_grad()
    ((network(given[~held]) - wanted[~held]) ** 2).mean().backward()
    trainer.step()
with torch.no_grad():
    left = (network(given[held]) - wanted[held]).square().mean().sqrt()
print(f"the network predicts Vc of held-out substances within {100 * float(left):.1f}%")

answer = cf.interpret(
    network, inputs, "layers:0", names=["Tc", "Pc"], budget=cf.Budget(evaluations=4000), rng=0,
    progress=False,
)  # fmt: skip
print("\n ", answer.concept, "--", answer.verdict.status)
print(f"  median angle {answer.alignment.angles[0]:.1f} degrees")
field = cf.extract_field(network, inputs, "layers:0", names=["Tc", "Pc"])
theory = cf.verify("Tc/Pc", field, rivals=None)
angle = theory.alignment.angles[0]
print(f"  theory, Tc/Pc: median angle {angle:.1f} degrees, {theory.verdict.status}")
factor = np.exp(targets) * inputs[:, 1] / (83.1446 * inputs[:, 0])
print(f"  Pc Vc/(R Tc) over all substances: {factor.mean():.3f} +- {factor.std():.3f}")

print("\nThe formula back in the network:")
copy = answer.replace_in(network, inputs, targets=targets)
print("  latent =", copy.latents.composition.phi, "with g =", copy.formulas[0])
print(" ", copy.cost)
