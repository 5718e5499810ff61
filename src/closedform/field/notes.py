"""Notes that a field carries from where it was made to where it is judged."""

HELD_VARY = (
    "Inputs that are not differentiated keep the values of each point, which differ: a concept of "
    "them too would look different there. The values of the neuron depend on them as well, so that "
    "they are left out, and whether phi is monotone cannot be tested."
)
"""Said of a field whose points differ in inputs that it does not hold."""
