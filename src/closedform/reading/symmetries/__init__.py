"""Symmetries: the affine motions of the inputs that a field does not see.

In comes a field, out come generators, the algebra that they form and how broken each is in degrees
(`found_symmetries`). `affine` solves for vector fields along which nothing changes, `plain_basis`
writes them as people do. Start with `finding`, which also says how many are independent.
"""
