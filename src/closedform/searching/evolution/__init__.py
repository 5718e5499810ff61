"""Evolution: pyoperon breeds expressions in native batches, the compiled judge scores them."""
