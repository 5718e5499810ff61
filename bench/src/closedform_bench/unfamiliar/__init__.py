"""Networks of kinds that no example has, trained on drawn formulas and read in one call."""
