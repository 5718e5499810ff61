"""Fields with known answers and fields without one, for calibrating the verdict.

Two sets that share no formula and no seed: `tune`, on which factors and thresholds were chosen, and
`report`, on which they were measured afterwards. None of the formulas is one of the paper's or of
the search benchmark's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import closedform as cf
from closedform_bench.invariants.control import random_waves

Box = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """A field, how it was made, and what should be found in it (None: nothing)."""

    name: str
    kind: str
    truth: str | None
    field: cf.GradientField
    noise: float = 0.0
    fit: float | None = None


TRUTHS: dict[str, list[tuple[str, Box]]] = {
    "tune": [
        ("x*y**2", (0.5, 3)),
        ("x**2 - y*z", (-2, 2)),
        ("exp(x) + y**2", (-2, 2)),
        ("sin(2*x) + y", (-2, 2)),
        ("x/(2 + y**2)", (-2, 2)),
        ("x*y + 3*z", (-2, 2)),
        ("log(x) + y**2", (0.5, 3)),
        ("x**3 + 3*y", (-2, 2)),
        ("sqrt(x**2 + y**2) + z", (-2, 2)),
        ("x**2 + 1.7*y**2", (-2, 2)),
    ],
    "report": [
        ("x**2*y + z", (-2, 2)),
        ("cos(x) + y**3/3", (-2, 2)),
        ("x*exp(y)", (0.5, 2)),
        ("x**2 + y**2 + 2*z**2", (-2, 2)),
        ("x**4/4 - x**2/2 + y**2/2", (-2, 2)),
        ("x - log(x) + y - 2*log(y)", (0.5, 4)),
        ("x*y/z", (1, 3)),
        ("x/(y + z)", (1, 3)),
        ("x*y + z*w", (-2, 2)),
        ("x**2 + 0.6*y**2 + 0.3*x*y", (-2, 2)),
        ("y**2/2 - 1/x", (0.5, 3)),
        ("sin(x) + cos(y)", (-1.5, 1.5)),
    ],
}
NOISES = (0.0, 0.5, 1.0, 2.0, 5.0)
SIZES = (500, 2000, 5000)
DISTORTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda g: g,
    "tanh": np.tanh,
    "cubic": lambda g: g + g**3 / 3,
    "exp": lambda g: np.exp(g / 2),
}


def analytic(which: str) -> Iterator[Case]:
    """Exact gradients turned by independent noise; the 1-degree, 2,000-point case of every formula
    is among them.
    """
    offset = 0 if which == "tune" else 5000
    for place, (truth, box) in enumerate(TRUTHS[which]):
        for step, noise in enumerate(NOISES):
            size = 2000 if noise == 1.0 else SIZES[(place + step) % len(SIZES)]
            rng = np.random.default_rng([offset, place, step])
            expression = cf.parse(truth)
            points = rng.uniform(*box, (size, len(expression.names)))
            gradients = turned(expression.gradient(points), noise, rng)
            latents = np.tanh(expression(points) / np.abs(expression(points)).max())
            field = cf.GradientField.from_arrays(
                points, gradients, latents=latents, names=expression.names
            )
            yield Case(f"{truth} | {noise:g} deg | {size}", "analytic", truth, field, noise)


def trained(which: str, folder: Path, n_seeds: int) -> Iterator[Case]:
    """Networks trained on a distorted concept, read at their output; weights are not kept, fields
    are.
    """
    for place, (truth, box) in enumerate(TRUTHS[which]):
        for seed in range(n_seeds):
            activation = ("elu", "tanh", "relu", "silu")[(place + seed) % 4]
            distortion = list(DISTORTIONS)[(place + 2 * seed) % 4]
            number = (0 if which == "tune" else 5000) + 100 * place + seed
            name = f"{truth} | {activation} | {distortion} | {seed}"
            field, fit = _kept(
                folder / f"net_{number}.npz",
                lambda: _train(truth, box, activation, distortion, number),  # noqa: B023
            )
            yield Case(name, "network", truth, field, fit=fit)


def controls(which: str, folder: Path, n_each: int) -> Iterator[Case]:
    """Fields without a closed form."""
    offset = 100_000 if which == "tune" else 400_000
    for seed in range(n_each):
        n_inputs = (2, 3, 4)[seed % 3]
        names = ["x", "y", "z", "w"][:n_inputs]
        number = offset + seed
        rng = np.random.default_rng(number)
        points = rng.uniform(-2, 2, (2000, n_inputs))
        field, _ = _kept(
            folder / f"untrained_{number}.npz",
            lambda: (_untrained(points, names, number), 0.0),  # noqa: B023
        )
        yield Case(f"untrained | {seed}", "untrained", None, field)
        field, _ = _kept(
            folder / f"shuffled_{number}.npz",
            lambda: _shuffled(points, names, number),  # noqa: B023
        )
        yield Case(f"shuffled | {seed}", "shuffled", None, field)
        values, gradients = random_waves(points, rng)
        smooth = cf.GradientField.from_arrays(points, gradients, latents=values, names=names)
        yield Case(f"smooth | {seed}", "smooth", None, smooth)
        if seed % 2 == 0:
            noise = cf.GradientField.from_arrays(
                points, rng.normal(size=points.shape), latents=rng.normal(size=2000), names=names
            )
            yield Case(f"noise | {seed}", "noise", None, noise)


def turned(gradients: np.ndarray, degrees: float, rng: np.random.Generator) -> np.ndarray:
    """Unit gradients, each turned by an angle with this root mean square in a random direction."""
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    across = rng.normal(size=units.shape)
    across -= (across * units).sum(axis=1, keepdims=True) * units
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angles = np.radians(degrees) * rng.normal(size=(len(units), 1))
    return np.cos(angles) * units + np.sin(angles) * across


def _net(n_inputs: int, activation: str) -> Any:
    import torch

    kind = {
        "elu": torch.nn.ELU,
        "tanh": torch.nn.Tanh,
        "relu": torch.nn.ReLU,
        "silu": torch.nn.SiLU,
    }[activation]
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 64),
        kind(),
        torch.nn.Linear(64, 64),
        kind(),
        torch.nn.Linear(64, 1),
    )


def _fitted(
    points: np.ndarray, targets: np.ndarray, activation: str, seed: int, steps: int
) -> tuple[Any, float]:
    """A network trained by Adam with a falling rate, and its R^2 on the points."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = _net(points.shape[1], activation)
    x = torch.tensor(points, dtype=torch.float32)
    y = torch.tensor((targets - targets.mean()) / targets.std(), dtype=torch.float32)[:, None]
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    for _ in range(steps):
        batch = torch.randint(len(x), (512,))
        loss = ((net(x[batch]) - y[batch]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return net, float(1 - ((net(x) - y) ** 2).mean())


def _train(
    truth: str, box: Box, activation: str, distortion: str, seed: int
) -> tuple[cf.GradientField, float]:
    expression = cf.parse(truth)
    rng = np.random.default_rng(seed)
    points = rng.uniform(*box, (20_000, len(expression.names)))
    values = expression(points)
    targets = DISTORTIONS[distortion]((values - values.mean()) / values.std())
    net, fit = _fitted(points, targets, activation, seed, steps=4000)
    return cf.extract_field(net, points[:3000], ":0", names=expression.names, rng=seed), fit


def _untrained(points: np.ndarray, names: list[str], seed: int) -> cf.GradientField:
    import torch

    torch.manual_seed(seed)
    net = _net(points.shape[1], ("elu", "tanh", "relu", "silu")[seed % 4])
    return cf.extract_field(net, points, ":0", names=names, rng=seed)


def _shuffled(points: np.ndarray, names: list[str], seed: int) -> tuple[cf.GradientField, float]:
    """A network trained on targets that belong to other points."""
    rng = np.random.default_rng(seed)
    targets = rng.permutation((points**2).sum(axis=1))
    net, fit = _fitted(points, targets, ("elu", "tanh", "relu", "silu")[seed % 4], seed, steps=1500)
    return cf.extract_field(net, points, ":0", names=names, rng=seed), fit


def _kept(
    path: Path, make: Callable[[], tuple[cf.GradientField, float]]
) -> tuple[cf.GradientField, float]:
    """Make a field once; later runs read it."""
    note = path.with_suffix(".txt")
    if not note.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        field, fit = make()
        field.save(path)
        note.write_text(repr(fit))
    return cf.load_field(path), float(note.read_text())
