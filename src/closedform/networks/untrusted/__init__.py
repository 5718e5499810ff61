"""Reading model files that nobody vouches for.

The rule of this room: what a file says is data, and torch sees only what was written here anew.

``archive`` reads the ZIP. One reader is enough, because nobody else reads that file afterwards.
``pickles`` turns a pickle into inert values; it imports nothing and calls nothing. ``tensors``
makes tensors of them from raw bytes. ``program``, ``graph_operators`` and ``shapes`` copy the
description of an exported network field by field, and refuse whatever torch would evaluate, import
or compile and is not of a known form. ``exported_archive`` writes the clean file that torch opens.
``guard`` makes unpickling fail while it does. ``inspection`` says what a file holds.

Refusing names that look dangerous would not be enough: torch opens more than any list names.
"""
