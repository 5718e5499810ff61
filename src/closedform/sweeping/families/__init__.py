"""One form over many outputs, layers or networks, with its constants as functions of the index."""
