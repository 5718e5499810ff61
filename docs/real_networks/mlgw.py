"""mlgw: how the two spins of a black-hole binary enter the phase of its gravitational wave."""

import io
import json
import zipfile
from importlib.metadata import distribution
from itertools import combinations_with_replacement
from pathlib import Path

import h5py
import matplotlib
import numpy as np
import torch

import closedform as cf
from closedform.sweeping.family import NeuronReading, group

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parent.parent / "images" / "real_networks" / "mlgw.svg"
# Only its files are read: importing the package would need TensorFlow.
MODE = Path(str(distribution("mlgw").locate_file("mlgw/TD_models/model_0/22")))
rng = np.random.default_rng(0)


def features(x, order):
    """q, s1, s2, and from order 2 on chi_eff, eta, log q and the chirp mass with their products."""
    q, s1, s2 = x.T
    eta = q / (1 + q) ** 2
    own = [(q * s1 + s2) / (1 + q), eta, torch.log(q), eta**0.6]
    products = [
        torch.stack(chosen).prod(dim=0)
        for count in range(2, order + 1)
        for chosen in combinations_with_replacement(own, count)
    ]
    return torch.stack([q, s1, s2, *(own if order > 1 else []), *products], dim=1)


def network(name):
    """Layers of sigmoids from a Keras file; its name says up to which order features go."""
    archive = zipfile.ZipFile(MODE / f"{name}.keras")
    order = int(json.loads(archive.read("config.json"))["config"]["name"].split("---")[1][0])
    with h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
        layers = file["_layer_checkpoint_dependencies"]
        ordered = sorted(layers, key=lambda layer: int(layer.partition("_")[2] or 0))
        weights = [
            [torch.tensor(np.asarray(layers[one]["vars"][part])).double() for part in "01"]
            for one in ordered
        ]

    def run(x):
        x = features(x, order)
        for place, (kernel, bias) in enumerate(weights):
            x = x @ kernel + bias
            x = torch.sigmoid(x) if place < len(weights) - 1 else x
        return x

    return run


FILES = ("ph_weights_01", "ph_weights_01_residual", "ph_weights_2345")
first, residual, others = map(network, FILES)
coefficients = torch.tensor(np.loadtxt(MODE / "residual_coefficients_01"))
table = torch.tensor(np.loadtxt(MODE / "ph_PCA_model.dat"))
basis, mean, sizes = table[:-2, :-1], table[:-2, -1], table[-2, :-1]
times = np.loadtxt(MODE / "times.dat")
merger = int(np.abs(times).argmin())


def phase(x):
    """The phase at the merger, as the package puts it together."""
    parts = torch.cat([first(x) + residual(x) * coefficients, others(x)], dim=1)
    return (parts * sizes[: parts.shape[1]]) @ basis[merger, : parts.shape[1]] + mean[merger]


names = ["q", "s1", "s2"]
points = rng.uniform([1.2, -0.5, -0.5], [6.0, 0.5, 0.5], (4000, 3))
field = cf.extract_field(phase, torch.tensor(points), 0, names=names, tangent="none", rng=0)

# Both masses over their sum, with q = m1/m2: m1^2 + a m1 m2 is (q^2 + a q)/(1 + q)^2.
spins = "(q**2 + {a}*q)*s1 + (1 + {a}*q)*s2"
theories = {
    "total spin": spins.format(a="0"),
    "post-Newtonian": spins.format(a="(75/113)"),
    "effective one-body": spins.format(a="(3/4)"),
    "chi_eff": spins.format(a="1"),
    "a fitted": spins.format(a="a"),
}
found = cf.contest_field(
    field, theories, free={"a": (0.5, -1, 2)}, given=["q"], rng=0, title="mlgw, phase at the merger"
)
print("Phase of the (2, 2) mode at the merger, in s1 and s2 at each q")
print(found)
print("  the nearest --", f"{found.theories[0].median:.2f} degrees")

# The same as a curve: at each of 60 mass ratios s1 + c*s2, and c as a function of q.
readings = []
for place, q in enumerate(np.linspace(1.2, 6.0, 60)):
    at_q = rng.uniform([q, -0.5, -0.5], [q, 0.5, 0.5], (600, 3))
    whole = cf.extract_field(phase, torch.tensor(at_q), 0, names=names, tangent="none", rng=0)
    field = cf.GradientField.from_arrays(
        at_q[:, 1:], whole.directions[:, 1:, 0], names=names[1:], tangent="none"
    )
    concept = cf.parse("s1 + 0.5*s2", names=names[1:])
    readings.append(NeuronReading(f"q{place}", float(q), field, concept))
family = group(readings, degrees=2.0)[0]
(curve,) = family.curves("q").values()
print(f"\n{len(family.labels)} mass ratios: {family.form}, with c1 over q as")
print(" ", curve)
for number, error in zip(curve.numbers, curve.errors, strict=True):
    print(f"  {number:.4f} +- {error:.4f}")
print(f"  {curve.verdict.sentence}")
for other in curve.verdict.alternatives:
    print("  or", other)

figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="constrained")
found.plot(ax=axes[0])
axes[0].set_xlabel("angle, degrees: median and 90%", fontsize=7.5)
found.plot_where("post-Newtonian", ax=axes[1])
figure.savefig(PICTURE, metadata={"Date": None})
