"""From a front of candidates to one concept."""
