"""Expressions: the language in which concepts are written."""
