"""``closedform.compare``: what training, or another network, changed in what neurons encode."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from closedform.basics.keywords import KeywordError
from closedform.judge.rules import MATERIAL_DEGREES
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.families.family import NeuronReading
from closedform.sweeping.families.network_comparison import NetworkComparison, compare_readings
from closedform.sweeping.families.tolerances import MOVED
from closedform.sweeping.stored_readings import stored_readings
from closedform.sweeping.sweep import sweep
from closedform.sweeping.sweep_result import Sweep


def compare(
    first: Any,
    second: Any,
    inputs: Any = None,
    layer: str | list[str] | None = None,
    *,
    moved: float = MOVED,
    degrees: float = MATERIAL_DEGREES,
    **options: Any,
) -> NetworkComparison:
    """Compare two sweeps, or two networks whose neurons are read first.

    Parameters
    ----------
    first, second : Sweep, ResultStore, str, Path, or networks
        Two sweeps or the paths of their stores; or two networks of the same architecture.
    inputs, layer, **options
        For networks, as in `closedform.sweep`.
    moved : float
        Standard errors from which a constant counts as moved.
    degrees : float
        An angle too small to matter: a form that fits within it still holds.

    Returns
    -------
    NetworkComparison

    Examples
    --------
    >>> import closedform as cf, numpy as np
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> networks = [lambda x, c=c: (x[:, 0] ** 2 + c * x[:, 1])[:, None] for c in (1.5, 1.6)]
    >>> found = cf.compare(*networks, points, "output", names=["x", "v"], kind="function")
    >>> [(change.neuron, change.status) for change in found.changes]
    [('output:0', 'moved')]
    """
    if inputs is None:
        pair = [_readings(given) for given in (first, second)]
        return compare_readings(*pair, moved=moved, degrees=degrees)
    if layer is None:
        raise KeywordError("Two networks need the layer whose neurons are compared; pass layer=.")
    with TemporaryDirectory() as folder:
        for name, model in (("first", first), ("second", second)):
            sweep(model, inputs, layer, store=Path(folder) / name, **options)
        pair = [stored_readings(ResultStore(Path(folder) / name)) for name in ("first", "second")]
        return compare_readings(*pair, moved=moved, degrees=degrees)


def _readings(given: Any) -> list[NeuronReading]:
    if isinstance(given, Sweep):
        return given.readings()
    if isinstance(given, str | Path):
        given = ResultStore(given)
    if isinstance(given, ResultStore):
        return stored_readings(given)
    raise KeywordError(
        f"A {type(given).__name__} is not a sweep or the path of a store; for networks pass inputs "
        f"and layer too."
    )
