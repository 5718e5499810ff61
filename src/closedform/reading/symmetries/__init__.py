"""Symmetries: the affine motions of the inputs that a field does not see.

In comes a field, out come generators, the algebra that they form and how broken each is in degrees
(`found_symmetries`). `affine` holds affine vector fields and judges how far they lead out of the
level sets, `plain_basis` writes them as people do. Start with `finding`, which solves for them.
"""
