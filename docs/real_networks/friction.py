"""Pressure drop in pipes: networks on tables of friction factors, in three regimes."""

import fluids
import numpy as np
import torch

import closedform as cf

rng = np.random.default_rng(0)


def train(inputs, targets):
    """Two layers of 24 neurons on the logarithms of the inputs."""
    torch.manual_seed(0)
    given, wanted = torch.tensor(inputs), torch.tensor(targets)[:, None]
    centre, spread = given.log().mean(0), given.log().std(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 24), torch.nn.Tanh(), torch.nn.Linear(24, 24),
        torch.nn.Tanh(), torch.nn.Linear(24, 1),
    ).double()  # fmt: skip
    trainer = torch.optim.LBFGS(layers.parameters(), max_iter=600, line_search_fn="strong_wolfe")

    class Network(torch.nn.Module):
        """Its output is the logarithm of the target."""

        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            """Of inputs as they were measured."""
            return self.layers((x.log() - centre) / spread)

    network = Network()

    def loss():
        trainer.zero_grad()
        error = ((network(given) - wanted) ** 2).mean()
        error.backward()
        return error

    trainer.step(loss)
    return network, 100 * float(loss().detach().sqrt())


def read(title, inputs, targets, names, theory):
    """Print what a trained network depends on, beside the formula of theory."""
    network, percent = train(inputs, np.log(targets))
    answer = cf.interpret(
        network, inputs, 0, names=names, budget=cf.Budget(evaluations=3000), rng=0, progress=False
    )
    field = cf.extract_field(network, inputs, 0, names=names)
    known = cf.verify(theory, field, rivals=None)
    print(f"{title} ({len(inputs)} points, the network is within {percent:.2f}%)")
    print(" ", answer.concept, "--", answer.verdict.status)
    print(f"  median angle {answer.alignment.angles[0]:.3f} degrees")
    angle = known.alignment.angles[0]
    print(f"  theory, {theory}: median angle {angle:.3f} degrees, {known.verdict.status}\n")


def drop(v, d, nu):
    """Pressure drop of a smooth pipe in Pa/m, of m/s, cm and mm2/s, for water's density."""
    reynolds = 1e4 * v * d / nu
    factor = np.array([fluids.friction_factor(Re=one, eD=0.0) for one in reynolds])
    return reynolds, factor * 1000 * v**2 / (2 * d / 100)


for title, thin, thick, theory in (
    ("laminar, smooth pipe", 60.0, 240.0, "v*nu/d**2"),
    ("turbulent, smooth pipe", 0.5, 2.0, "v**7*nu/d**5"),
):
    places = np.exp(rng.uniform(np.log([0.5, 1, thin]), np.log([2, 4, thick]), (1000, 3)))
    reynolds, gradient = drop(*places.T)
    kept = reynolds < 2000 if thin > 2 else reynolds > 4000
    span = f"Re {reynolds[kept].min():.0f} to {reynolds[kept].max():.0f}"
    read(f"{title}, {span}", places[kept], gradient[kept], ["v", "d", "nu"], theory)

places = np.exp(rng.uniform(np.log([0.1, 0.1]), np.log([10, 10]), (1000, 2)))
factor = np.array([fluids.friction_factor(Re=1e5 * R, eD=1e-3 * e) for R, e in places])
scale = 6.9e-5 / (1e-3 / 3.7) ** 1.11  # of Haaland's formula in these units
haaland = f"e**1.11 + {scale:.3f}/R"
read("rough pipe, R = Re/1e5, e = 1000 roughness/diameter", places, factor, ["R", "e"], haaland)
