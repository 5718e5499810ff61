"""The formula back in the network: what an answer's `replace_in` does."""

from closedform.reading.replacing import replace_stage

__all__ = ["replace_stage"]
