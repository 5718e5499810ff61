"""Errors and warnings, and text from outside made safe to show in them: what a terminal obeys, or
nobody sees, becomes an escape.
"""

import re
import sys
import warnings

# Letters, marks and a symbol that leave no trace on the screen; Python counts them as printable.
_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164]"
    r"|[\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


class ClosedformError(Exception):
    """Base of every error that closedform raises on purpose; what its message quotes from outside
    is shown escaped.
    """

    def __init__(self, *arguments: object, **details: object) -> None:
        super().__init__(
            *(shown(part) if isinstance(part, str) else part for part in arguments), **details
        )


class ExpressionError(ClosedformError, ValueError):
    """An expression is malformed, too large, or has no exact counterpart; `position` is where in
    the text it happened, counted from 0.
    """

    def __init__(self, message: str, *, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class UnknownFunctionError(ExpressionError):
    """A text holds a function, `name`, that is not known here, such as an operator that is defined
    elsewhere.
    """

    def __init__(self, message: str, *, name: str = "", position: int | None = None) -> None:
        super().__init__(message, position=position)
        self.name = name


class FieldError(ClosedformError, ValueError):
    """A gradient field cannot be built, read or written from what was given."""


class DomainError(ClosedformError, ValueError):
    """The stated domain cannot be read, or holds no usable point."""


class BudgetError(ClosedformError, ValueError):
    """A budget is not a budget, has no limit, or has one that is not positive."""


class SpaceError(ClosedformError, ValueError):
    """A search space cannot be used, or names something that does not exist."""


class EngineError(ClosedformError, ValueError):
    """There is no such search engine, or it does not take an option."""


class ChoiceError(ClosedformError, ValueError):
    """The rule of choice does not exist, no candidate meets it, or a search result belongs to
    another field.
    """


class ConceptError(ClosedformError, RuntimeError):
    """A concept was asked for, but the search found none."""


class ProgressError(ClosedformError, ValueError):
    """The requested way to show progress does not exist."""


class StorageError(ClosedformError, ValueError):
    """A file is not what it should be."""


class DamagedFileError(StorageError):
    """A file, `path`, is damaged, or of another kind than it should be; nothing in it was used."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class SaveError(ClosedformError, OSError):
    """A file cannot be written; what was there before is still there."""


class ShapeError(ClosedformError, ValueError):
    """An array does not have the shape that the call needs."""


class MissingDependencyError(ClosedformError, ImportError):
    """An optional package is needed; the message says how to install it."""


class ClosedformWarning(UserWarning):
    """Something deserves attention, but the call continued; its message is shown escaped too."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(shown(part) if isinstance(part, str) else part for part in arguments))


def warn(message: str) -> None:
    """Issue a `ClosedformWarning` at the first caller outside this package."""
    level, frame = 1, sys._getframe()
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").split(".")[0] == "closedform"
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ClosedformWarning, stacklevel=level)


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


class ReportError(ClosedformError, ValueError):
    """There is nothing to draw, or the parts of an answer do not fit each other."""


class UnitsError(ClosedformError, ValueError):
    """Units that cannot be read, or that make what is asked for impossible."""


def first_line(error: BaseException) -> str:
    """What an error of someone else's says first, or its kind if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def is_plain_text(text: str) -> bool:
    """Whether every character of a text is seen, and does nothing else.

    Control characters, line breaks, marks that turn the direction of writing, characters without
    width, lone surrogates and all spaces but the common one are not.
    """
    return text.isprintable() and _UNSEEN.search(text) is None


def shown(text: object) -> str:
    """The text on one line, with a visible escape in place of every character that is not plain.

    Everything that came from outside (names, titles, notes, paths, the words of other programs'
    errors) goes through here before a person sees it. Escaping twice changes nothing more.

    Examples
    --------
    >>> print(shown("v\\r\\nverified: FAKE\\x1b]0;title\\x07"))
    v\\r\\nverified: FAKE\\x1b]0;title\\x07
    >>> shown("r² of α")
    'r² of α'
    """
    whole = str(text)
    if is_plain_text(whole):
        return whole
    return "".join(
        c if is_plain_text(c) else c.encode("unicode_escape").decode("ascii") for c in whole
    )
