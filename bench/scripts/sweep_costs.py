"""What one neuron costs in a sweep: seconds of the processor and bytes in the store, for each kind
of neuron.

Run it: python bench/scripts/sweep_costs.py [--points 2000] [--each 3]

Neurons are swept one by one in this process, with the effort that a sweep has by default: concepts,
noise and dead ones of the layer of `sweep_layer.py`, and smooth ones without a closed form, the
outputs of a random network of two hidden layers of 32 tanh. The first reading compiles and does not
count. Prints one JSON object.
"""

import argparse
import json
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import closedform as cf
from closedform.sweeping.execution.store import RESULTS
from closedform.sweeping.layer_extraction import FIELDS

HERE = Path(__file__).parent
COUNT = 100


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main(n_points: int, each: int) -> dict[str, Any]:
    """Sweep some neurons of each kind."""
    import torch
    from sweep_layer import NAMES, Units, kinds

    known, layer = kinds(COUNT).kind, Units(COUNT)
    torch.manual_seed(0)
    sizes = (len(NAMES), 32, 32)
    hidden = [
        part
        for before, after in pairwise(sizes)
        for part in (torch.nn.Linear(before, after), torch.nn.Tanh())
    ]
    smooth = torch.nn.Sequential(*hidden, torch.nn.Linear(sizes[-1], COUNT)).double()
    for parameter in smooth.parameters():
        parameter.data *= 3  # far from linear
    points = np.random.default_rng(0).uniform(-1, 1, (n_points, len(NAMES)))

    def cost(network: torch.nn.Module, neuron: int) -> tuple[float, int, int]:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            cf.sweep(network, points, "output", neurons=[neuron], names=NAMES, store=folder)
            spent = time.process_time() - began
            return spent, size(Path(folder) / RESULTS), size(Path(folder) / FIELDS)

    chosen = {
        kind: [place for place, name in enumerate(known) if name == kind]
        for kind in ("concept", "noise", "dead")
    }
    cost(layer, chosen["concept"].pop())
    chosen["smooth"] = list(range(COUNT))
    found: dict[str, Any] = {"points": n_points, "inputs": len(NAMES)}
    for kind, neurons in chosen.items():
        network = smooth if kind == "smooth" else layer
        costs = [cost(network, neuron) for neuron in neurons[:each]]
        found[kind] = {
            "processor_seconds": [round(seconds, 2) for seconds, _, _ in costs],
            "mean": round(mean(seconds for seconds, _, _ in costs), 2),
            "record_bytes": round(mean(record for _, record, _ in costs)),
            "field_bytes": round(mean(fields for _, _, fields in costs)),
        }
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--each", type=int, default=3)
    asked = parser.parse_args()
    sys.path.insert(0, str(HERE))
    print(json.dumps(main(asked.points, asked.each), indent=1))
