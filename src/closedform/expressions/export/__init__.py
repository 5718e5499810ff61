"""Expressions in the form that other programs take: one file per form."""
