"""What a replacement costs: the outputs, and the score against targets, before and after."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Cost:
    """Outputs with a formula in the neurons' place, on points that phi was not fitted to.

    Attributes
    ----------
    change : float
        Root mean square change of the outputs, relative to their spread.
    latent_r2 : float
        Share of the neurons' variance that the formula explains.
    measure : str
        'accuracy' for classes, 'R2' for numbers; empty without targets.
    before, after : float or None
        The network's score against the targets, and the copy's.
    n_points : int
    """

    change: float
    latent_r2: float
    measure: str
    before: float | None
    after: float | None
    n_points: int

    def __str__(self) -> str:
        told = (
            f"outputs change by {self.change:.2%} of their spread; the formula explains "
            f"{self.latent_r2:.4%} of the neurons' variance ({self.n_points} points)"
        )
        if self.before is None or self.after is None:
            return told
        return f"{self.measure} {self.before:.4f} before, {self.after:.4f} after; {told}"


def measure_cost(
    original: FloatArray,
    replaced: FloatArray,
    latents: tuple[FloatArray, FloatArray],
    targets: FloatArray | None,
) -> Cost:
    """Compare outputs of shape (n_points, n_outputs), and both with targets where there are any.

    Parameters
    ----------
    original, replaced : ndarray, shape (n_points, n_outputs)
    latents : tuple of ndarray, shape (n_points, n_latents)
        The neurons' own values, and the formula's.
    targets : ndarray or None
        Whole numbers are classes: the output with the largest value, or the sign of a single one.

    Examples
    --------
    >>> outputs = np.array([[0.0], [1.0], [2.0]])
    >>> measure_cost(outputs, outputs, (outputs, outputs), outputs[:, 0]).after
    1.0
    """
    spread = float(((original - original.mean(axis=0)) ** 2).mean())
    change = float(((replaced - original) ** 2).mean())
    measure, before, after = "", None, None
    if targets is not None:
        is_class = np.issubdtype(targets.dtype, np.integer) or targets.dtype == bool
        measure = "accuracy" if is_class else "R2"
        score = _accuracy if is_class else _r2
        before, after = score(original, targets), score(replaced, targets)
    return Cost(
        change=float(np.sqrt(change / spread)) if spread > 0 else 0.0,
        latent_r2=_r2(latents[1], latents[0]),
        measure=measure,
        before=before,
        after=after,
        n_points=len(original),
    )


def _accuracy(outputs: FloatArray, targets: FloatArray) -> float:
    predicted = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(int)
    return float((predicted == targets.reshape(len(targets), -1)[:, 0]).mean())


def _r2(outputs: FloatArray, targets: FloatArray) -> float:
    wanted = targets.reshape(len(targets), -1)
    left = ((outputs.reshape(wanted.shape) - wanted) ** 2).sum()
    return float(1 - left / ((wanted - wanted.mean(axis=0)) ** 2).sum())
