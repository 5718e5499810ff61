"""From a trained network to its gradient field, with what is known about the data and nothing of
the answer.
"""

from typing import TYPE_CHECKING

from closedform.field.gradient_field import GradientField
from closedform.networks.extract import extract_field
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS

if TYPE_CHECKING:
    import torch

N_POINTS = 4000


def extract_experiment(
    number: int,
    module: "torch.nn.Module",
    *,
    n_points: int = N_POINTS,
    tangent: str = "auto",
    smoothing: float = 0.0,
    seed: int = 0,
) -> GradientField:
    """The field of a network's latent at anchors of its test data, inside what the experiment holds
    constant.

    Parameters
    ----------
    number : int
        Of the experiment.
    module : torch.nn.Module
    n_points : int
    tangent : str
        'auto' states what the experiment holds constant; 'none' compares full gradients as the
        paper does.
    smoothing : float
        See `closedform.extract_field`.
    seed : int
        Of the data.
    """
    experiment = EXPERIMENTS[number]
    return extract_field(
        module,
        experiment.split("test", n_points, seed=seed)[:, 0],
        0,
        names=experiment.inputs,
        tangent=tangent,
        constraints=experiment.held if tangent in ("auto", "constraints") else (),
        smoothing=smoothing,
        rng=seed,
    )
