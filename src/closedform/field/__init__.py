"""Fields: points, directions, and how far they can be trusted.

In come points and gradients, out comes a `GradientField`: directions in scaled inputs, inside the
space that the data fill (`tangent`), with findings about noise, rank and inputs (`quality`).
`alignment` compares a formula with a field, and fits its constants to it. Start with
`gradient_field`, then `alignment/misalignment`.
"""
