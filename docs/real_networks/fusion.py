"""QLKNN: where turbulence sets in, for ion and for electron modes of a fusion plasma."""

from importlib.metadata import distribution
from pathlib import Path

import matplotlib
import numpy as np

import closedform as cf

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parent.parent / "images" / "real_networks" / "fusion.svg"
# Only its ONNX file is read.
FILE = distribution("fusion-surrogates").locate_file(
    "fusion_surrogates/qlknn/models/qlknn_7_11.onnx"
)
names = ["Ati", "Ate", "Ane", "Ani", "q", "smag", "x", "Ti_Te", "LogNuStar", "normni"]
low = [2.0, 2.0, 1.0, 1.0, 1.0, 0.2, 0.3, 0.5, -3.0, 1.0]
high = [12.0, 12.0, 1.0, 1.0, 4.0, 3.0, 0.3, 2.0, -3.0, 1.0]
network = cf.load_network(str(FILE))
points = np.random.default_rng(0).uniform(low, high, (20000, 10))
found = {}
for output, gradient in (("efiITG", "Ati"), ("efeETG", "Ate")):
    field = cf.extract_field(
        network, points, output, names=names, tangent="none", rng=0, max_points=20000
    )
    # Below the threshold the flux is cut off at 0, and there is nothing to read.
    columns = [names.index(name) for name in (gradient, "q", "smag", "Ti_Te")]
    flows = field.weights > 0
    few = cf.GradientField.from_arrays(
        field.points[flows][:, columns],
        field.directions[flows][:, columns, 0],
        names=[names[column] for column in columns],
        tangent="none",
    )
    threshold = f"{gradient} - (1 + {{tau}})*(1.33 + 1.91*smag/q)"
    theories = {
        "tau = Ti/Te": threshold.format(tau="Ti_Te"),
        "tau = Te/Ti": threshold.format(tau="1/Ti_Te"),
        "tau = 1": threshold.format(tau="1"),
        "the gradient alone": gradient,
        "tau = Ti/Te, fitted": f"{gradient} - (1 + Ti_Te)*(a + b*smag/q)",
        "tau = Te/Ti, fitted": f"{gradient} - (1 + 1/Ti_Te)*(a + b*smag/q)",
    }
    one = found[output] = cf.contest_field(
        few, theories, free={"a": 1.33, "b": 1.91}, rng=0, title=f"QLKNN, {output}"
    )
    print(f"{output}: {int(flows.sum())} of {len(flows)} points are above the threshold")
    print(one)
    print("  the nearest --", f"{one.theories[0].median:.0f} degrees\n")

figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
for ax, (output, one) in zip(axes, found.items(), strict=True):
    one.plot(ax=ax)
    ax.set_title(output, fontsize=9)
    ax.set_xlabel("angle, degrees: median and 90%", fontsize=7.5)
figure.savefig(PICTURE, metadata={"Date": None})
