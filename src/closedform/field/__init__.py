"""Gradient fields: points, directions, tangent spaces, and the truth about their quality."""
