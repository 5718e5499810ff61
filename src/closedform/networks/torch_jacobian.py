"""From values of neurons to their gradients at every point."""

import warnings
from typing import TYPE_CHECKING, Any

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.networks.errors import ExtractionError
from closedform.networks.neuron import Neuron

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

VECTORISED = 8
"""From this many latents on, backward passes are taken together."""

BY_INPUTS = 4
"""With this many times more latents than inputs, Jacobians are taken input by input: each pass
serves all latents.
"""


def jacobians_of(values: list[Any], leaf: Any, neurons: tuple[Neuron, ...]) -> FloatArray:
    """Gradients of every column of values, shape (n_points, n_latents, n_inputs).

    Points do not mix, so the gradient of a sum over points holds the gradients of all points.

    Parameters
    ----------
    values : list of tensors, shape (n_points, m)
        One entry per neuron; m is 1 but for whole layers.
    leaf : tensor, shape (n_points, n_inputs)
    """
    columns = [
        (column, neuron)
        for value, neuron in zip(values, neurons, strict=True)
        for column in value.unbind(dim=1)
    ]
    together = None
    if len(columns) >= max(VECTORISED, BY_INPUTS * leaf.shape[1]):
        together = _by_inputs(values, leaf)
    if together is None and len(columns) >= VECTORISED:
        together = _vectorised(values, leaf)
    if together is not None:
        return together
    gradients = []
    for column, neuron in columns:
        (gradient,) = torch.autograd.grad(column.sum(), leaf, retain_graph=True, allow_unused=True)
        if gradient is None:
            raise ExtractionError(
                f"{neuron} does not depend on the inputs. Choose another neuron, or another "
                f"input with wrt=."
            )
        gradients.append(gradient.double().cpu())
    return torch.stack(gradients, dim=1).numpy()


def _joined(values: list[Any]) -> Any:
    """Values side by side, or None where they differ in kind."""
    if len({value.device for value in values}) > 1 or len({value.dtype for value in values}) > 1:
        return None
    return torch.cat(values, dim=1)


def _by_inputs(values: list[Any], leaf: Any) -> FloatArray | None:
    """All gradients by differentiating twice, or None where an operation of the network does not
    support it.

    The backward pass J^T u is linear in u, whatever u is; its derivative along an input is that
    input's column of J.
    """
    joined = _joined(values)
    if joined is None:
        return None
    seeds = torch.zeros_like(joined, requires_grad=True)
    try:
        (pulled,) = torch.autograd.grad(joined, leaf, seeds, create_graph=True)
        columns = [
            torch.autograd.grad(column.sum(), seeds, retain_graph=True)[0].double().cpu()
            for column in pulled.unbind(dim=1)
        ]
    except RuntimeError:
        return None
    jacobians = torch.stack(columns, dim=2)
    # A network with a backward pass of its own may cut the graph somewhere: a plain pass with other
    # seeds tells.
    probe = torch.linspace(
        -1.0, 1.0, joined.shape[1], dtype=joined.dtype, device=joined.device
    ).expand_as(joined)
    (plain,) = torch.autograd.grad(joined, leaf, probe, retain_graph=True)
    same = torch.einsum("nkd,nk->nd", jacobians, probe.double().cpu())
    tolerance = 1e-8 if joined.dtype == torch.float64 else 1e-2
    size = jacobians.abs().sum(dim=1)
    return (
        jacobians.numpy()
        if bool(((same - plain.double().cpu()).abs() <= tolerance * size).all())
        else None
    )


def _vectorised(values: list[Any], leaf: Any) -> FloatArray | None:
    """All gradients in one backward pass, or None where an operation of the network does not
    support it.
    """
    joined = _joined(values)
    if joined is None:
        return None
    count, latents = joined.shape
    eye = torch.eye(latents, dtype=joined.dtype, device=joined.device)
    seeds = eye[:, None, :].expand(latents, count, latents)
    try:
        with warnings.catch_warnings():
            # Operations without a batching rule are run one by one by torch, with a warning about
            # speed.
            warnings.simplefilter("ignore")
            (gradients,) = torch.autograd.grad(
                joined, leaf, seeds, is_grads_batched=True, retain_graph=True
            )
    except RuntimeError:
        return None
    return gradients.double().cpu().movedim(0, 1).numpy()
