"""Rosetta: which of a soil's properties decide how much water it holds when it is full."""

from pathlib import Path

import matplotlib
import numpy as np
from rosetta.rosetta import Rosetta

import closedform as cf

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parent.parent / "images" / "real_networks" / "soil.svg"
model = Rosetta(rosetta_version=3, model_code=3)
names = ["sand", "clay", "rho"]
rng = np.random.default_rng(0)
drawn = rng.uniform([5, 5, 1.1], [90, 60, 1.8], (6000, 3))
points = drawn[drawn[:, 0] + drawn[:, 1] < 95][:2500]


def outputs(x):
    """Mean over the ensemble: theta_r, theta_s, the logarithms of alpha and n, and that of Ks."""
    silt = 100 - x[:, 0] - x[:, 1]
    table = np.stack([x[:, 0], silt, x[:, 1], x[:, 2]], axis=1)
    return np.concatenate([part.mean(axis=0) for part in model.predict(table)], axis=1)


CONTESTS = {
    "theta_s, water content at saturation": (1, {
        "porosity, 1 - rho/2.65": "-rho",
        "Vereecken 1989": "-0.283*rho + 0.001*clay",
        "Cosby 1984": "-sand",
        "linear, fitted": "-rho + a*clay + b*sand",
    }, {"a": 0.004, "b": 0.0}),
    "log Ks, conductivity at saturation": (4, {
        "Cosby 1984": "0.0126*sand - 0.0064*clay",
        "sand alone": "sand",
        "porosity": "-rho",
        "linear, fitted": "sand + a*clay + b*rho",
    }, {"a": -0.5, "b": -30.0}),
}  # fmt: skip
figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
for ax, (title, (output, theories, free)) in zip(axes, CONTESTS.items(), strict=True):
    found = cf.contest(
        lambda x, output=output: outputs(x)[:, output], points, 0, theories, free=free,
        names=names, tangent="none", rng=0, title=f"Rosetta 3, {title}",
    )  # fmt: skip
    print(title)
    print(found)
    print("  the nearest --", f"{found.theories[0].median:.0f} degrees\n")
    found.plot(ax=ax)
    ax.set_title(title.partition(",")[0], fontsize=9)
    ax.set_xlabel("angle, degrees: median and 90%", fontsize=7.5)
figure.savefig(PICTURE, metadata={"Date": None})
