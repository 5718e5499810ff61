"""Read closed-form concepts out of trained neural networks."""

from closedform._version import __version__
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse

__all__ = ["Expression", "__version__", "parse"]
