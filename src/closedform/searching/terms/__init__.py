"""Term search: sums of library terms, whose coefficients an eigenproblem gives."""
