"""From a network to an answer: compositions of search, select and verify."""

from closedform.reading import extension

__all__ = ["extension"]
