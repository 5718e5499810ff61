"""How well networks carry their concepts: ``python -m closedform.experiments.assess DIR`` writes ``DIR/networks.json``.

This is scoring: it knows the answers, and nothing that reads a network imports it.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr

from closedform.alignment.scores import field_misalignment
from closedform.experiments.answers import ANSWERS
from closedform.experiments.extraction import extract_experiment
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.networks.siamese import load_siamese

if TYPE_CHECKING:
    import torch

TRIMMED = 0.95
"""Share of the points in the trimmed mean: those that fit best."""


def assess(number: int, module: "torch.nn.Module", *, seed: int = 0) -> dict[str, Any]:
    """Compare a network with the concept that it should have learned.

    Returns
    -------
    dict
        ``misalignment`` (mean), ``misalignment_trimmed``, ``misalignment_median`` inside the tangent space;
        ``misalignment_without_tangent``; ``misalignment_smoothed`` with gradients averaged over 0.05 of the spread;
        ``noise_degrees``, the directional noise of the field; ``spearman`` of latent and concept.
    """
    field = extract_experiment(number, module, seed=seed)
    errors = _errors(number, field)
    assert field.latents is not None
    return {
        "misalignment": float(errors.mean()),
        "misalignment_trimmed": float(np.sort(errors)[: int(TRIMMED * len(errors))].mean()),
        "misalignment_median": float(np.median(errors)),
        "misalignment_without_tangent": float(
            _errors(number, extract_experiment(number, module, tangent="none", seed=seed)).mean()
        ),
        "misalignment_smoothed": float(_errors(number, extract_experiment(number, module, smoothing=0.05, seed=seed)).mean()),
        "noise_degrees": field.quality.noise_degrees,
        "spearman": float(spearmanr(field.latents[:, 0], _concept(number, field)(field.points)).statistic),
    }


def main() -> None:
    """Assess every network in a directory."""
    parser = argparse.ArgumentParser(prog="python -m closedform.experiments.assess", description=__doc__)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    table = []
    for file in sorted(directory.glob("experiment_*.safetensors")):
        record = json.loads(file.with_suffix(".json").read_text())
        record |= assess(record["number"], load_siamese(file), seed=record["seed"])
        table.append({key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in record.items()})
    (directory / "networks.json").write_text(json.dumps(table, indent=1) + "\n")


def _concept(number: int, field: GradientField) -> Any:
    return parse(ANSWERS[number].expression, field.names)


def _errors(number: int, field: GradientField) -> np.ndarray:
    return field_misalignment(_concept(number, field), field)[field.weights > 0]


if __name__ == "__main__":
    main()
