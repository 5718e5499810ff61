"""Shipped test kit: what an extension of closedform can check itself with."""
