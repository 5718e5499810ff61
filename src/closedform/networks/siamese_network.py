"""The network of a Siamese training: its options, its layers, its loss."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from closedform.errors import ShapeError, TrainingError
from closedform.networks.torch_library import torch

Activation = Literal["relu", "elu", "silu"]
Schedule = Literal["plateau", "cycle"]
Loss = Literal["triplet", "contrast"]


@dataclass(frozen=True, slots=True)
class SiameseOptions:
    """How a Siamese network is built and trained.

    Attributes
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    activation : {'relu', 'elu', 'silu'}
        Of the hidden layers. ELU networks have continuous gradients, SiLU networks smooth ones,
        which are easier to read.
    latents : int
        Number of latent neurons, the output.
    learning_rate : float
        Of Adam; with the schedule 'cycle' the largest.
    weight_decay : float
    batch_size : int
    epochs : int
    schedule : {'plateau', 'cycle'}
        'plateau' multiplies the learning rate by `factor` after `patience` epochs without a better
        loss; 'cycle' raises it and then lowers it to nothing over the given epochs, which suits
        short training.
    patience : int
    factor : float
    margin : float
        By how much negatives should be farther off than positives, in squared distance.
    loss : {'triplet', 'contrast'}
        'triplet' is satisfied as soon as one latent tells anchor and negative apart; 'contrast'
        compares each anchor with the negatives of the whole batch, which spreads the latents out
        over all that pairs share: several latents need it.
    resolution : float
        For 'contrast', the distance at which latents count as different, in units of their spread.
    final_resolution : float or None
        The resolution goes there from epoch to epoch by equal factors: a coarse one makes all
        latents useful, a fine one exact. The network of the last epoch is then kept, because losses
        at different resolutions cannot be compared, and `stop_after` has no effect.
    stop_after : int or None
        End after this many epochs without a better loss.
    standardize : bool
        Train on inputs of mean 0 and standard deviation 1. The network that comes out takes the
        inputs as they are.

    Examples
    --------
    >>> SiameseOptions(activation="elu").hidden
    (256, 256)
    """

    hidden: tuple[int, ...] = (256, 256)
    activation: Activation = "relu"
    latents: int = 1
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    batch_size: int = 256
    epochs: int = 100
    schedule: Schedule = "plateau"
    patience: int = 10
    factor: float = 0.2
    margin: float = 1.0
    loss: Loss = "triplet"
    resolution: float = 0.2
    final_resolution: float | None = None
    stop_after: int | None = None
    standardize: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name, known in (("activation", Activation), ("schedule", Schedule), ("loss", Loss)):
            if getattr(self, name) not in get_args(known):
                raise TrainingError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(get_args(known))}."
                )
        counts = {n: getattr(self, n) for n in ("latents", "batch_size", "epochs", "patience")}
        counts |= {f"hidden[{i}]": width for i, width in enumerate(self.hidden)}
        for name, value in counts.items():
            if value < 1:
                raise TrainingError(f"{name} is {value}; it must be at least 1.")
        for name in ("learning_rate", "margin", "resolution", "final_resolution"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise TrainingError(f"{name} is {getattr(self, name)}; it must be positive.")

    @property
    def anneals(self) -> bool:
        """Whether each epoch has a resolution of its own."""
        return self.loss == "contrast" and self.final_resolution is not None

    def resolution_in(self, epoch: int) -> float:
        """The resolution of an epoch, counted from 0.

        Examples
        --------
        >>> options = SiameseOptions(resolution=0.4, final_resolution=0.1, epochs=3)
        >>> [round(options.resolution_in(epoch), 3) for epoch in range(3)]
        [0.4, 0.2, 0.1]
        """
        if self.final_resolution is None or self.epochs == 1:
            return self.resolution
        return self.resolution * (self.final_resolution / self.resolution) ** (
            epoch / (self.epochs - 1)
        )


def build_siamese(options: SiameseOptions, n_inputs: int) -> "torch.nn.Sequential":
    """An untrained network, with its first weights from torch's generator.

    Examples
    --------
    >>> [name for name, _ in build_siamese(SiameseOptions(hidden=(8,)), 3).named_children()]
    ['hidden1', 'activation1', 'latent']
    """
    module = torch.nn.Sequential()
    kind = {"relu": torch.nn.ReLU, "elu": torch.nn.ELU, "silu": torch.nn.SiLU}[options.activation]
    width = n_inputs
    for number, after in enumerate(options.hidden, start=1):
        module.add_module(f"hidden{number}", torch.nn.Linear(width, after))
        module.add_module(f"activation{number}", kind())
        width = after
    module.add_module("latent", torch.nn.Linear(width, options.latents))
    return module


def triplet_loss(latents: "torch.Tensor", margin: float = 1.0) -> "torch.Tensor":
    """Mean loss of latents, shape (n_triplets, 3, n_latents)."""
    anchor, positive, negative = latents.unbind(1)
    near, far = ((anchor - other).square().sum(1) for other in (positive, negative))
    return torch.relu(near - far + margin).mean()


def contrast_loss(latents: "torch.Tensor", resolution: float = 0.2) -> "torch.Tensor":
    """How hard it is to tell a positive from all negatives of a batch, latents of shape
    (n_triplets, 3, n_latents).

    The mean of -log(exp(-D(a, p)) / (exp(-D(a, p)) + sum exp(-D(a, n)))), the sum over all
    negatives of the batch, where D is half the squared distance with each latent divided by its
    spread over the batch times `resolution`. One latent alone, however exact, leaves negatives
    within the resolution: so every independent thing that pairs share is worth a latent.
    """
    spread = latents[:, ::2].flatten(0, 1).std(0) * resolution + 1e-6
    anchor, positive, negative = (latents / spread).unbind(1)
    near = (anchor - positive).square().sum(1) / 2
    far = (anchor[:, None] - negative[None]).square().sum(2) / 2
    return (near + torch.logsumexp(torch.cat([-near[:, None], -far], 1), 1)).mean()


def loss_of(latents: "torch.Tensor", options: SiameseOptions, epoch: int) -> "torch.Tensor":
    """The loss that the options ask for in an epoch."""
    if options.loss == "contrast":
        return contrast_loss(latents, options.resolution_in(epoch))
    return triplet_loss(latents, options.margin)


def mean_triplet_loss(module: "torch.nn.Module", triplets: ArrayLike, margin: float = 1.0) -> float:
    """Mean loss of a network on triplets, shape (n_triplets, 3, n_inputs)."""
    array = torch.tensor(checked_triplets(triplets, "triplets"), dtype=torch.float32)
    with torch.no_grad():
        return float(triplet_loss(latents_of(module, array), margin))


def latents_of(module: "torch.nn.Module", triplets: "torch.Tensor") -> "torch.Tensor":
    """Latents of triplets, shape (n_triplets, 3, n_latents)."""
    return module(triplets.reshape(-1, triplets.shape[2])).reshape(len(triplets), 3, -1)


def checked_triplets(triplets: ArrayLike, name: str) -> np.ndarray:
    """Triplets as an array, if they are some."""
    array = np.asarray(triplets, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != 3 or 0 in array.shape:
        raise ShapeError(
            f"{name} has shape {array.shape}; pass (n_triplets, 3, n_inputs): anchors, "
            f"positives, negatives."
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(bad):
        raise TrainingError(
            f"{name} holds {len(bad)} triplets that are not finite, the first at {bad[0]}; "
            f"leave them out."
        )
    return array
