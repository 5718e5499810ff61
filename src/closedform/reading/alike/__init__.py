"""Inputs that are alike: sums over sites found from the field, and the field read in these."""
