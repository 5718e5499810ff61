"""Case: a network, what is asked of it, and what would be right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import closedform as cf
from closedform.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Case:
    """One network of a new user.

    Attributes
    ----------
    model, inputs, neuron
        As `closedform.interpret` takes them.
    names : tuple of str
    truth : str or None
        The formula, up to constants where `fitted`; None if there is no closed form.
    asked : mapping
        Further keywords.
    domain : ndarray or None
        Points at which formulas are compared; the inputs by default.
    """

    model: Any
    inputs: Any
    neuron: Any
    names: tuple[str, ...]
    truth: str | None
    asked: Mapping[str, Any] = field(default_factory=dict)
    domain: FloatArray | None = None

    def read(self, budget: float, seed: int) -> cf.Interpretation:
        """What closedform says."""
        return cf.interpret(
            self.model, self.inputs, self.neuron, names=list(self.names), budget=budget, rng=seed,
            progress=False, **self.asked,
        )  # fmt: skip

    def points(self) -> FloatArray:
        """Where formulas are compared."""
        return self.domain if self.domain is not None else self.inputs


Make = Callable[[int], Case]
"""From a seed to a case, its network trained."""
