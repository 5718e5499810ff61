"""NeuralFoil: how camber moves the zero-lift line of an aerofoil."""

from pathlib import Path

import matplotlib
import numpy as np
import torch

import closedform as cf
from closedform_bench.published_networks import PUBLISHED

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parent.parent / "images" / "real_networks" / "neuralfoil.svg"
foil = PUBLISHED["NeuralFoil, lift"]
lift, points, names = foil.load(), foil.inputs(), foil.names
field = cf.extract_field(lift, torch.tensor(points), 0, names=names, tangent="none", rng=0)
# Degrees for each unit of c: 2/pi radians, and twice the height 2/(3*sqrt(3)) of the camber line.
theories = {
    "thin aerofoil": f"alpha + {np.degrees(2 / np.pi):.4f}*c",
    "arc of this height": f"alpha + {np.degrees(4 / 27**0.5):.4f}*c",
    "incidence alone": "alpha",
    "k fitted": "alpha + k*c",
}
given = ["t", "log_re"]
title = "NeuralFoil, lift coefficient"
found = cf.contest_field(field, theories, free={"k": 36.0}, given=given, rng=0, title=title)
print("Lift coefficient in alpha and c, at each t and Reynolds number")
print(found)
print("  the nearest --", f"{found.theories[0].median:.2f} degrees")
print("\nk fitted, by thickness and Reynolds number")
thin, slow = points[:, 2] < 0.175, points[:, 3] < np.log(5e6**0.5 * 1e3)
for place, word in ((thin & slow, "thin, slow"), (thin & ~slow, "thin, fast"),
                    (~thin & slow, "thick, slow"), (~thin & ~slow, "thick, fast")):  # fmt: skip
    part = cf.extract_field(
        lift, torch.tensor(points[place]), 0, names=names, tangent="none", rng=0
    )
    one = cf.contest_field(part, {"k": "alpha + k*c"}, free={"k": 36.0}, given=given, rng=0)
    k = one.constants["k"]["k"]
    print(f"  {word:11}  {k.value:.1f} +- {k.error:.1f}, {one.theories[0].median:.2f} degrees")

figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="constrained")
found.plot(ax=axes[0])
axes[0].set_xlabel("angle, degrees: median and 90%", fontsize=7.5)
found.plot_where("thin aerofoil", ax=axes[1])
figure.savefig(PICTURE, metadata={"Date": None})
