"""The first atlas: networks whose weights come with packages, read into one store and built.

Run it: python bench/scripts/first_atlas.py --store atlas --out site [--experiments 1 2 3 ...]

The latents of the shipped example and of the paper's networks, on test data of their experiments,
and the outputs of published networks whose packages are installed (`pip install --no-deps
neuralfoil fusion-surrogates cosmopower-jax`, and onnx). What is in the store already is not read
again; the same store gives the same site, byte for byte. Left out are weights whose licence is not
stated (rosetta-soil), and force fields (torchani, chgnet), whose inputs are places of atoms.
"""

import argparse
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import closedform as cf
from closedform.example import load_example
from closedform.sweeping.atlas.census import Identity, add_network
from closedform.sweeping.atlas.site import build_site
from closedform.sweeping.execution.coordinator import TerminalWatcher
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import N_POINTS
from closedform_bench.paper.shipped import SEED, load_checkpoint
from closedform_bench.published_networks import PUBLISHED

LICENCE = "Apache-2.0"


def main() -> None:
    """Read what is missing, and build the site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--experiments", type=int, nargs="*", default=sorted(EXPERIMENTS))
    parser.add_argument("--evaluations", type=int, default=20_000)
    options = parser.parse_args()
    effort = cf.Effort(evaluations=options.evaluations)
    example = load_example()
    add_network(
        example.network,
        example.inputs,
        store=options.store,
        identity=Identity("example", cf.__version__, LICENCE, "closedform/example.safetensors"),
        layers=["latent"],
        names=example.names,
        effort=effort,
        watcher=TerminalWatcher("example"),
    )
    for number in options.experiments:
        experiment = EXPERIMENTS[number]
        place = f"closedform_bench/paper/checkpoints/experiment_{number:02d}.safetensors"
        name = f"paper, experiment {number}"
        census = add_network(
            load_checkpoint(number),
            experiment.split("test", N_POINTS, seed=SEED)[:, 0],
            store=options.store,
            identity=Identity(name, cf.__version__, LICENCE, place),
            layers=["latent"],
            names=experiment.inputs,
            constraints=experiment.held,
            effort=effort,
            watcher=TerminalWatcher(name),
        )
        print(f"{name}: {census.sweep}", file=sys.stderr)
    for name, published in PUBLISHED.items():
        try:
            identity = Identity(name, published.version, published.licence, published.source)
        except PackageNotFoundError:
            print(f"{name}: {published.package} is not installed", file=sys.stderr)
            continue
        census = add_network(
            published.load(),
            published.inputs(),
            store=options.store,
            identity=identity,
            names=published.names,
            effort=effort,
            watcher=TerminalWatcher(name),
        )
        print(f"{name}: {census.sweep}", file=sys.stderr)
    print(build_site(options.store, options.out))


if __name__ == "__main__":
    main()
