"""Draw the pictures of this site from trained networks: ``python docs/pictures.py`` writes
docs/images/*.svg.

The networks are those that come with the package, the example and experiment 2 of the paper, and
four small ones that are trained here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import closedform as cf
from closedform.arrays import FloatArray
from closedform.example import load_example
from closedform.report.plots import BLACK, BLUE, GREEN, GREY, LIGHT, ORANGE, finish
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.shipped import load_checkpoint
from closedform_bench.verdicts.small_networks import train

IMAGES = Path(__file__).parent / "images"
STYLE: Any = {
    "svg.fonttype": "path", "svg.hashsalt": "closedform", "font.size": 8.5, "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "mathtext.fontset": "stixsans",
}  # fmt: skip
COLOURS = "cividis"
SMALL = 7.5


def main() -> None:
    """Draw all of them."""
    IMAGES.mkdir(exist_ok=True)
    with plt.rc_context(STYLE):
        for draw in (
            draw_concept,
            draw_directions,
            draw_phi,
            draw_tangent,
            draw_symmetries,
            draw_alike,
        ):
            figure = draw()
            file = IMAGES / f"{draw.__name__.removeprefix('draw_')}.svg"
            figure.savefig(file, metadata={"Date": None}, dpi=130)
            plt.close(figure)
            print(file.name, file.stat().st_size)


def draw_concept() -> Figure:
    """A neuron's values, its directions with the level lines of the formula that was read, and
    phi.
    """
    network, inputs, names = load_example()
    field = cf.extract_field(network, inputs, "latent:0", names=names)
    found = cf.interpret_field(field, budget=4.0, rng=0)
    if found.concept is None or field.latents is None or found.phi is None:
        raise RuntimeError("The network of the example was not read.")
    figure, (values, directions, phi) = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
    drawn = values.scatter(
        *field.points.T, c=field.latents[:, 0], s=5, cmap=COLOURS, linewidths=0, rasterized=True
    )
    figure.colorbar(drawn, ax=values, pad=0.02).ax.tick_params(labelsize=6.5)
    values.set_title("1  a neuron of a trained network")
    finish(values, "x", "v")
    some = np.random.default_rng(0).permutation(field.n_points)[:170]
    _strokes(directions, field.points[some], field.directions[some, :, 0], BLACK)
    grid, shape = _grid(field.points)
    directions.contour(
        *(grid[:, column].reshape(shape) for column in (0, 1)),
        found.concept(grid).reshape(shape),
        9,
        cmap=COLOURS,
        linewidths=1.0,
    )
    directions.set_title("2  its directions, and a formula for them")
    finish(directions, "x", "v")
    order = np.argsort(found.concept(field.points))
    phi.scatter(
        found.concept(field.points)[order],
        field.latents[order, 0],
        s=4,
        color=BLUE,
        alpha=0.3,
        linewidths=0,
        rasterized=True,
    )
    phi.set_title(
        f"3  ${cf.parse(str(found.concept)).latex()}$   ({found.verdict.status})",
        color=GREEN,
        fontsize=11,
    )
    finish(phi, "the formula", "the neuron")
    return figure


def draw_directions() -> Figure:
    """One concept behind three distortions: other values, the same directions."""
    concept = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    points = np.random.default_rng(1).uniform(-2, 2, (110, 2))
    grid, shape = _grid(points)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained", sharey=True)
    for ax, (name, phi) in zip(axes, _distortions().items(), strict=True):
        shown = phi(concept(grid)).reshape(shape)
        ax.imshow(
            shown, origin="lower", extent=(-2, 2, -2, 2), cmap=COLOURS, aspect="auto", alpha=0.9
        )
        here = phi(concept(points))
        gradient = np.stack(
            [phi(concept(points + step)) - here for step in 1e-6 * np.eye(2)], axis=1
        )
        _strokes(ax, points, gradient, "white")
        ax.set_title(name)
        finish(ax, "x", "v" if ax is axes[0] else "")
        ax.grid(False)
    return figure


def draw_phi() -> Figure:
    """What regression on values has to fit, and what directions have to fit."""
    concept = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    wrong = cf.parse("v**2/2 + x", names=["x", "v"])
    points = np.random.default_rng(0).uniform(-2, 2, (400, 2))
    figure, (values, angles) = plt.subplots(1, 2, figsize=(7.4, 2.9), layout="constrained")
    for colour, (name, phi) in zip((BLUE, ORANGE, GREEN), _distortions().items(), strict=True):
        line = np.sort(concept(points))
        shown = phi(line)
        values.plot(line, (shown - shown.min()) / np.ptp(shown), color=colour, label=name)
    finish(values, "concept $g$", r"neuron $f = \phi(g)$, scaled")
    values.set_title(r"values: the unknown $\phi$ is in the way")
    values.legend(frameon=False, fontsize=SMALL)
    for expression, colour in ((concept, GREEN), (wrong, GREY)):
        candidate, truth = expression.gradient(points), concept.gradient(points)
        cosine = (
            np.abs((candidate * truth).sum(1))
            / np.linalg.norm(candidate, axis=1)
            / np.linalg.norm(truth, axis=1)
        )
        degrees = np.degrees(np.arccos(np.clip(cosine, 0, 1)))
        angles.hist(
            degrees,
            bins=np.linspace(0, 90, 31),
            color=colour,
            alpha=0.8,
            label=f"${expression.latex()}$",
        )
    finish(angles, "angle to the neuron's gradient (degrees)", "points")
    angles.set_title(r"directions: the same for every $\phi$")
    angles.legend(frameon=False, fontsize=SMALL)
    return figure


def draw_tangent() -> Figure:
    """Why gradients are compared inside the data's tangent space: a sketch, and the network of
    experiment 2.
    """
    figure, (sketch, angles) = plt.subplots(1, 2, figsize=(7.4, 3.1), layout="constrained")
    _sketch(sketch)
    names = EXPERIMENTS[2].inputs
    truth = cf.parse("A11*A22 - A12*A21", names=list(names))
    module = load_checkpoint(2)
    for tangent, colour, label in (
        ("none", GREY, "full gradients"),
        ("auto", GREEN, "inside the tangent space"),
    ):
        field = extract_experiment(2, module, tangent=tangent)
        candidate = field.project(truth.gradient(field.points))
        candidate /= np.linalg.norm(candidate, axis=1, keepdims=True)
        cosine = np.abs(np.einsum("nt,ntk->n", candidate, field.frames))
        degrees = np.degrees(np.arccos(np.clip(cosine, 0, 1)))
        angles.hist(degrees, bins=np.linspace(0, 90, 46), color=colour, alpha=0.8, label=label)
    finish(angles, "angle between network and determinant (degrees)", "points")
    angles.set_title("a network that knows the determinant")
    angles.legend(frameon=False, fontsize=SMALL)
    return figure


def draw_symmetries() -> Figure:
    """Level lines of three networks, and the flow of the symmetry that is read from each."""
    figure, panels = plt.subplots(1, 3, figsize=(8.4, 3.0), layout="constrained")
    rng = np.random.default_rng(0)
    side = np.linspace(-2, 2, 80)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for ax, formula in zip(panels, ("x**2 + y**2", "x*y", "y - x**2"), strict=True):
        points = rng.uniform(-2, 2, (4000, 2))
        network = train(points, cf.parse(formula, names=["x", "y"])(points), "tanh", rng)
        found = cf.symmetries(network.field(points[:1500], ["x", "y"]), rng=0)
        values = network.values_and_gradients(grid)[0].reshape(80, 80)
        ax.contour(side, side, values, levels=12, colors=LIGHT, linewidths=2.2, linestyles="solid")
        found.plot_flow(ax=ax)
        one = found.generators[0]
        ax.set_title(f"trained on {formula}", fontsize=SMALL + 1)
        ax.set_xlabel(f"{one}\nbroken by {one.broken.degrees:.2f} degrees", fontsize=SMALL)
        ax.set_ylabel("")
    return figure


def _sketch(ax: Axes) -> None:
    line = np.linspace(-1.6, 1.6, 60)
    curve = np.stack([line, 0.28 * line**2], axis=1)
    ax.plot(*curve.T, color=LIGHT, linewidth=7, solid_capstyle="round", zorder=1)
    ax.text(-1.7, -0.25, "where the data are", fontsize=SMALL, color=GREY)
    rng = np.random.default_rng(4)
    for place in (-1.05, -0.2, 0.75):
        foot = np.array([place, 0.28 * place**2])
        along = np.array([1.0, 0.56 * place]) / np.hypot(1, 0.56 * place)
        across = np.array([-along[1], along[0]])
        true = 0.55 * along
        seen = true + rng.uniform(0.35, 0.7) * across * rng.choice([-1, 1])
        for vector, colour, width in ((seen, ORANGE, 0.011), (true, GREEN, 0.014)):
            ax.quiver(
                *foot,
                *vector,
                angles="xy",
                scale_units="xy",
                scale=1,
                color=colour,
                width=width,
                zorder=3,
            )
        ax.plot(*np.stack([foot + seen, foot + true]).T, color=GREY, linestyle=":", linewidth=1.0)
    ax.text(0.02, 0.93, "network's gradient", color=ORANGE, transform=ax.transAxes, fontsize=SMALL)
    ax.text(
        0.02,
        0.86,
        "its part along the data, which is learned",
        color=GREEN,
        transform=ax.transAxes,
        fontsize=SMALL,
    )
    ax.set_title("off the data, anything goes")
    ax.set_aspect("equal")
    ax.set_xlim(-1.8, 1.8)
    ax.set_ylim(-0.8, 1.5)
    ax.axis("off")


def draw_alike() -> Figure:
    """Spins, what flipping one of them does, with and without the mean over rearrangements, and the
    network's value over the sum of the spins.
    """
    import torch

    from closedform_bench.alike.ising import CRITICAL, network, sample, train

    torch.set_num_threads(1)
    torch.manual_seed(0)
    spins, temperatures = sample(4000, 10, np.random.default_rng(0), sweeps=200)
    inputs = spins.reshape(len(spins), -1)
    model = network("dense", 10)
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    train(model, inputs, temperatures < CRITICAL, loss, epochs=30, decay=0.03)
    group = cf.Group(range(100), shape=(10, 10))
    field = cf.extract_field(model, inputs, "output:0", groups={"s": group}, rng=0, max_points=200)
    totals = field.points.sum(axis=1)
    place = int(np.abs(totals - 50).argmin())
    figure, (lattice, flips, values) = plt.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
    lattice.imshow(field.points[place].reshape(10, 10), cmap=COLOURS, interpolation="nearest")
    lattice.set_title("1  inputs that are alike")
    lattice.axis("off")
    tensor = torch.as_tensor(np.array(field.points), dtype=torch.float32)
    with torch.no_grad():
        here = model(tensor)[:, 0].double().numpy()
        turned = tensor[place].repeat(100, 1) * (1 - 2 * torch.eye(100))
        changes = (model(turned)[:, 0].double().numpy() - here[place]) / (-2 * field.points[place])
    mean = field.directions[place, :, 0] * changes.mean() / field.directions[place, :, 0].mean()
    flips.scatter(range(100), changes, s=8, color=GREY, label="network")
    flips.scatter(range(100), mean, s=8, color=GREEN, label="mean over rearrangements")
    flips.set_ylim(0, 2 * changes.mean())
    flips.legend(fontsize=SMALL, frameon=False, loc="lower left")
    flips.set_title("2  the change when one is flipped")
    finish(flips, "site", "change per step")
    values.scatter(totals, here, s=6, color=BLUE, linewidths=0)
    values.set_title("3  it sees the sum, squared")
    finish(values, "sum(s[i])", "output")
    return figure


def _strokes(ax: Axes, points: FloatArray, vectors: FloatArray, colour: str) -> None:
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    ax.quiver(
        *points.T, *units.T, angles="xy", pivot="mid", headwidth=0, headlength=0, headaxislength=0,
        width=0.0045, scale=20, color=colour,
    )  # fmt: skip


def _grid(points: FloatArray, count: int = 80) -> tuple[FloatArray, tuple[int, int]]:
    first, second = (
        np.linspace(points[:, column].min(), points[:, column].max(), count) for column in (0, 1)
    )
    mesh = np.meshgrid(first, second)
    return np.stack([one.ravel() for one in mesh], axis=1), mesh[0].shape


def _distortions() -> dict[str, Callable[[FloatArray], FloatArray]]:
    return {
        "$f = g$": lambda g: g,
        "$f = \\tanh 2g$": lambda g: np.tanh(2 * g),
        "$f = e^{-g}$": lambda g: np.exp(-g),
    }


if __name__ == "__main__":
    main()
