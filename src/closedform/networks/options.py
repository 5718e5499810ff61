"""How to extract: everything besides the model, the data and the neuron."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from closedform.basics.keywords import KeywordError, checked_constructor, suggestion

Kind = Literal["auto", "torch", "jax", "function"]
Precision = Literal["auto", "double", "native"]


class OptionKeywords(TypedDict, total=False):
    """The keywords that `Options` takes."""

    batch_size: int
    precision: Precision
    transform: Any
    wrt: Any
    fixed: Mapping[int | str, Any] | None
    prepare: Callable[[Any], Any] | None
    batched: bool | None
    step: float | None
    kind: Kind


@checked_constructor
@dataclass(frozen=True, slots=True)
class Options:
    """How a network is evaluated.

    Attributes
    ----------
    batch_size : int
        Points in one pass.
    precision : str
        ``double`` evaluates a copy of the network in float64, ``native`` the network as it is.
        ``auto`` tries the copy and says so when it falls back.
    transform : callable, module or fitted scaler, optional
        What stands in front of the network: ``model(transform(inputs))``. Formulas come back in the
        coordinates before it. A scikit-learn transformer is accepted if it is affine.
    wrt : optional
        What to differentiate with respect to: an input by position or name, ``(which, index)`` for
        a slice of it (the index counts the axes of one point), or a list of these. Of the only
        input the index is enough, ``np.s_[-1, :]``; of one table also columns: ``["A", "dT"]``,
        ``[3, 4, 5]``, ``np.s_[3:]``. Default: every input that holds real numbers.
    fixed : mapping, optional
        Further arguments of the network that stay the same: position or name to value. A callable
        value is called with the number of points in a batch.
    prepare : callable, optional
        From what a data set yields to the network's inputs: an array, a tuple of positional inputs,
        or a dictionary. Default: the first entry of a tuple, since labels follow it.
    batched : bool, optional
        Whether the network takes many points at once. Default: yes for torch, found out for JAX and
        functions.
    step : float, optional
        Step of finite differences, relative to the spread of each input.
    kind : str
        ``torch``, ``jax`` or ``function``, where ``auto`` would decide wrongly.

    Examples
    --------
    >>> Options(batch_size=256).precision
    'auto'
    """

    batch_size: int = 1024
    precision: Precision = "auto"
    transform: Any = None
    wrt: Any = None
    fixed: Mapping[int | str, Any] | None = None
    prepare: Callable[[Any], Any] | None = None
    batched: bool | None = None
    step: float | None = None
    kind: Kind = "auto"

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise KeywordError(
                f"A batch needs at least one point; got batch_size={self.batch_size}."
            )
        for name, known in (
            ("precision", ("auto", "double", "native")),
            ("kind", ("auto", "torch", "jax", "function")),
        ):
            value = getattr(self, name)
            if value not in known:
                hint = suggestion(str(value), known) or "."
                raise KeywordError(f"{name}={value!r} is not one of {', '.join(known)}{hint}")
