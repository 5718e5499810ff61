"""What opening a file from outside may cost, whoever made the file: the one statement of it.

Each reader measures a file before it reads it, and refuses what could cost more. The shares of the
memory say how many bytes of each kind of file that is. `closedform doctor` looks into a file in a
process of its own, which is ended at these limits: not every library can be measured beforehand.
"""

SECONDS = 10.0
"""Of the processor, once libraries are imported."""

MEMORY = 2**30
"""Bytes of the whole process, of which torch takes a third before it has opened anything."""

ARRAYS = MEMORY // 4
"""Bytes of arrays, which are copied when they are checked."""

NETWORK = MEMORY // 32
"""Bytes of a network; parsed, and as double precision, it takes several times as many."""

TEXT = MEMORY // 64
"""Bytes of JSON: far more than answers have, and Python takes 25 times as many."""

EXPANSION = 4
"""How many times larger than its file real data is: arrays with many zeros are compressed so far.
zlib makes nothing but zeros a thousandth.
"""


def scale(size: int) -> float:
    """How many times these limits a file of arrays may cost: 1, or more where it is large itself,
    which whoever opens it can see.
    """
    return max(1.0, EXPANSION * size / ARRAYS)
