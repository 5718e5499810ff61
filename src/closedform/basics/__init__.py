"""Basics: small things that every room uses, and nothing of the method.

Files are written whole or not at all (`files`), and what a file from outside may cost stands in
`limits`. Keywords are checked before anything is computed (`keywords`), packages that may be
missing are asked for in one way (`optional`), long steps tell their progress (`progress`).
"""
