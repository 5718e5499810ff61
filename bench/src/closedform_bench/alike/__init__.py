"""Inputs that are alike: Ising networks, drawn sums over sites, and controls."""
