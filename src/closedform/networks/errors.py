"""What can go wrong between a network and its gradients."""

from closedform.errors import ClosedformError, DamagedFileError


class NeuronError(ClosedformError, ValueError):
    """A selector does not name one neuron of this network.

    Attributes
    ----------
    neuron : str
        The selector as text.
    known : tuple of str
        The layers of the network, where the layer was not found.
    """

    def __init__(self, message: str, *, neuron: str = "", known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.neuron = neuron
        self.known = known


class ExtractionError(ClosedformError, ValueError):
    """The network was found, and no gradient can be taken from it."""


class NetworkError(ExtractionError, RuntimeError):
    """The network itself failed on the inputs; what it said is in the message."""


class ModelFileError(DamagedFileError):
    """A model file or a data file cannot be read, or must not be."""


class TrainingError(ClosedformError, ValueError):
    """A training cannot start, go on or be resumed."""
