"""How much a file from a stranger may ask for: far above what real ones need, far below what would
bring a machine down.
"""

MAX_REPEATED = 2**27
"""Elements of a tensor that repeats its storage; one that does not is as large as its bytes."""

MAX_OPERATIONS = 20_000_000
"""Steps of a pickle, which checks them one by one."""

MAX_ENTRIES = 100_000
"""Files in an archive."""

MAX_SHAPE_TEXT = 10_000
"""Characters of an expression that states a tensor's shape."""

LARGEST_SIZE = 2**63
"""Numbers in a shape are below this, as torch's are."""
