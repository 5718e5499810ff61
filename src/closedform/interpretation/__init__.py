"""The answer: the concept, its verdict and the evidence, as plain data that can be saved."""
