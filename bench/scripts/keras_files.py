"""The recipe of docs/guides/files.md on the published networks of mlgw, which are ``.keras`` files.

``pip download --no-deps --no-binary :all: mlgw==3.0.1.post1``, unpack it, and
``python bench/scripts/keras_files.py FOLDER``. Needs h5py. Shapes are compared with those that each
file states, and a field is read from each network.
"""

import io
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import h5py  # pyright: ignore[reportMissingImports]
import numpy as np
import torch

import closedform as cf

ACTIVATIONS = {"sigmoid": torch.nn.Sigmoid, "linear": torch.nn.Identity}


def dense(kernel: np.ndarray, bias: np.ndarray) -> torch.nn.Linear:
    """A layer with these weights, as in the guide."""
    layer = torch.nn.Linear(*kernel.shape, dtype=torch.float64)
    layer.weight.data = torch.tensor(kernel.T).double()
    layer.bias.data = torch.tensor(bias).double()
    return layer


def stated(config: dict[str, Any]) -> list[tuple[tuple[int, int], str]]:
    """The shape and the activation of each dense layer."""
    layers = [one for one in config["config"]["layers"] if one["class_name"] == "Dense"]
    return [
        (
            (one["build_config"]["input_shape"][-1], one["config"]["units"]),
            one["config"]["activation"],
        )
        for one in layers
    ]


def opened(path: Path) -> torch.nn.Sequential:
    """The network of a file; raises if it is not as the file states."""
    with zipfile.ZipFile(path) as archive:
        weights = h5py.File(io.BytesIO(archive.read("model.weights.h5")))
        known = stated(json.loads(archive.read("config.json")))
    layers: Any = weights["layers" if "layers" in weights else "_layer_checkpoint_dependencies"]
    # dense, dense_1, ...: h5 keeps them by name, in which 10 comes before 2.
    names = sorted(
        (n for n in layers if "vars/0" in layers[n]),
        key=lambda n: [*map(int, re.findall(r"\d+", n))],
    )
    parts = [dense(layers[name]["vars/0"][:], layers[name]["vars/1"][:]) for name in names]
    shapes = [(part.in_features, part.out_features) for part in parts]
    if shapes != [shape for shape, _ in known]:
        raise ValueError(f"{path} states {known} and has {shapes}")
    pairs = zip(parts, known, strict=True)
    return torch.nn.Sequential(
        *(each for part, (_, kind) in pairs for each in (part, ACTIVATIONS[kind]()))
    )


def main() -> None:
    """Open all files in a folder."""
    files = sorted(Path(sys.argv[1]).rglob("*.keras"))
    for path in files:
        network: Any = opened(path)
        n_inputs = network[0].in_features
        points = np.random.default_rng(0).uniform(-1, 1, (50 + 2 * n_inputs, n_inputs))
        print(
            path.parent.name, path.name, cf.extract_field(network, points, f"{len(network) - 1}:0")
        )
    print(f"{len(files)} files opened, all of the shapes that they state")


if __name__ == "__main__":
    main()
