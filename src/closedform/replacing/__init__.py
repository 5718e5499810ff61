"""The formula back in the network: what an answer's `replace_in` does."""

from closedform.replacing import replace_stage

__all__ = ["replace_stage"]
