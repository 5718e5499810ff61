"""How well networks carry their concepts: ``python -m closedform_bench.paper.assess DIR`` writes
``DIR/networks.json``.

This is scoring: it knows the answers, and nothing that reads a network imports it.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import trimmed_mean, weighted_mean
from closedform.field.gradient_field import GradientField
from closedform.networks.siamese import load_siamese
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.train import network_file, read_record

if TYPE_CHECKING:
    import torch


def assess(number: int, module: "torch.nn.Module", *, seed: int = 0) -> dict[str, Any]:
    """Compare a network with the concept that it should have learned.

    Returns
    -------
    dict
        ``misalignment`` (mean), ``misalignment_trimmed`` and ``misalignment_median`` inside the
        tangent space; ``misalignment_without_tangent``, of the spelling that fits best;
        ``misalignment_smoothed`` with gradients averaged over 0.05 of the spread;
        ``noise_degrees``, the directional noise of the field; ``spearman`` of latent and concept.
    """
    field = extract_experiment(number, module, seed=seed)
    full = extract_experiment(number, module, tangent="none", seed=seed)
    smooth = extract_experiment(number, module, smoothing=0.05, seed=seed)
    answer = ANSWERS[number]
    values = parse(answer.expression, field.names)(field.points)
    assert field.latents is not None
    errors = _errors(answer.expression, field)
    return {
        "misalignment": weighted_mean(errors, field.weights),
        "misalignment_trimmed": trimmed_mean(errors, field.weights),
        "misalignment_median": float(np.median(errors[field.weights > 0])),
        "misalignment_without_tangent": min(
            weighted_mean(_errors(spelling, full), full.weights)
            for spelling in (answer.expression, *answer.spellings)
        ),
        "misalignment_smoothed": weighted_mean(_errors(answer.expression, smooth), smooth.weights),
        "noise_degrees": field.quality.noise_degrees,
        "spearman": float(
            pd.Series(field.latents[:, 0]).corr(pd.Series(values), method="spearman")
        ),
    }


def main() -> None:
    """Assess every network in a directory."""
    parser = argparse.ArgumentParser(
        prog="python -m closedform_bench.paper.assess", description=__doc__
    )
    parser.add_argument("directory", type=Path)
    assess_directory(parser.parse_args().directory)


def assess_directory(directory: Path) -> None:
    """Write ``networks.json``: how each network in a directory was trained, and how well it carries
    its concept.
    """
    table = []
    for number in EXPERIMENTS:
        file = network_file(directory, number)
        if file.exists():
            record = read_record(directory, number)
            record |= assess(number, load_siamese(file), seed=record["seed"])
            table.append(
                {
                    key: float(f"{value:.4g}") if isinstance(value, float) else value
                    for key, value in record.items()
                }
            )
    write_text(directory / "networks.json", json.dumps(table, indent=1) + "\n")


def _errors(expression: str, field: GradientField) -> FloatArray:
    return field_misalignment(parse(expression, field.names), field)


if __name__ == "__main__":
    main()
