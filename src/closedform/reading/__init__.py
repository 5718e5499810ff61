"""From a network to an answer: compositions of search, select and verify."""
