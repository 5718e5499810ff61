"""The twelve experiments of the paper: data sets, training, networks, scoring."""
