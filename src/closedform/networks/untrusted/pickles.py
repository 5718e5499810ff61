"""Pickles read as inert values: names stay names, calls stay calls; nothing is imported or run."""

import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.limits import MAX_OPERATIONS


@dataclass(frozen=True, slots=True)
class Name:
    """Something that unpickling would import."""

    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """Something that unpickling would call, and what it would put into the result afterwards."""

    function: Any
    arguments: Any
    items: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Something that is stored elsewhere in the file, such as the bytes of a tensor."""

    identity: Any


@dataclass(frozen=True, slots=True, eq=False)
class Pickle:
    """What a pickle holds.

    Attributes
    ----------
    value : object
        Its value, of plain Python objects, `Name`, `Call` and `Reference`; None where it is broken.
    names : tuple of Name
        All that unpickling would import, in order.
    problem : str
        Why it could not be read to the end, or empty.
    length : int
        How many bytes it takes.
    """

    value: Any
    names: tuple[Name, ...]
    problem: str
    length: int


class _Mark:
    """Where a pickle begins to collect."""


def read_pickle(content: bytes) -> Pickle:
    """The first pickle in these bytes; one that is broken is read up to there."""
    machine = _Machine()
    problem, length = "", 0
    try:
        for count, (opcode, argument, position) in enumerate(pickletools.genops(content)):
            if count > MAX_OPERATIONS:
                raise ModelFileError(f"more than {MAX_OPERATIONS:,} operations")
            machine.run(opcode.name, argument)
            length = (position or 0) + 1
    except Exception as error:  # a broken pickle can fail anywhere
        problem = f"{type(error).__name__}: {error}"[:200]
    value = machine.stack[-1] if machine.stack and not problem else None
    return Pickle(value, tuple(dict.fromkeys(machine.names)), problem, length)


def read_pickles(content: bytes) -> Iterator[Pickle]:
    """The pickles that follow one another in these bytes, until something else comes."""
    start = 0
    while start < len(content):
        found = read_pickle(content[start:])
        yield found
        if found.problem:
            return
        start += found.length


class _Machine:
    """Pickle's stack machine, on inert values."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.names: list[Name] = []

    def run(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _PUSHES:
            self.stack.append(argument)
        elif name not in ("PROTO", "FRAME", "STOP"):
            _OPERATIONS[name](self, argument)

    def above_mark(self) -> list[Any]:
        place = len(self.stack) - 1
        while not isinstance(self.stack[place], _Mark):
            place -= 1
            if place < 0:
                raise ValueError("a pickle that ends a list which it did not begin")
        found = self.stack[place + 1 :]
        del self.stack[place:]
        return found

    def push_name(self, module: Any, attribute: Any) -> Name:
        name = Name(*(part if isinstance(part, str) else "?" for part in (module, attribute)))
        self.names.append(name)
        self.stack.append(name)
        return name

    def push_call(self, function: Any, arguments: Any) -> None:
        self.stack.append(Call(function, arguments))


def _global(machine: _Machine, argument: str) -> None:
    machine.push_name(*argument.split(" ", 1))


def _stack_global(machine: _Machine, _: Any) -> None:
    attribute, module = machine.stack.pop(), machine.stack.pop()
    machine.push_name(module, attribute)


def _instance(machine: _Machine, argument: str) -> None:
    arguments = machine.above_mark()
    machine.push_name(*argument.split(" ", 1))
    machine.push_call(machine.stack.pop(), tuple(arguments))


def _object(machine: _Machine, _: Any) -> None:
    function, *arguments = machine.above_mark()
    machine.push_call(function, tuple(arguments))


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.stack.pop(), machine.stack.pop()
    machine.push_call(function, arguments)


def _new_object_ex(machine: _Machine, _: Any) -> None:
    keywords, arguments, function = machine.stack.pop(), machine.stack.pop(), machine.stack.pop()
    machine.push_call(function, (arguments, keywords))


def _extension(machine: _Machine, argument: int) -> None:
    machine.push_name("copyreg", f"extension {argument}")


def _build(machine: _Machine, _: Any) -> None:
    machine.stack.pop()  # the state of an object; none that is read here needs one


def _store(machine: _Machine, argument: int) -> None:
    machine.memo[argument] = machine.stack[-1]


def _append(machine: _Machine, _: Any) -> None:
    _extend(machine.stack[-2], [machine.stack.pop()])


def _appends(machine: _Machine, _: Any) -> None:
    values = machine.above_mark()
    _extend(machine.stack[-1], values)


def _extend(target: Any, values: list[Any]) -> None:
    (target if isinstance(target, list) else target.items).extend(values)


def _set_item(machine: _Machine, _: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _set(machine.stack[-1], key, value)


def _set_items(machine: _Machine, _: Any) -> None:
    values = machine.above_mark()
    for key, value in zip(values[::2], values[1::2], strict=True):
        _set(machine.stack[-1], key, value)


def _set(target: Any, key: Any, value: Any) -> None:
    if isinstance(target, dict):
        target[_plain_key(key)] = value
    else:
        target.items.append((key, value))


def _plain_key(key: Any) -> Any:
    # Python computes the hash of a tuple in a tuple in a tuple without looking at how deep it is.
    if isinstance(key, tuple):
        raise ValueError("a dictionary whose keys are tuples")
    return key


def _tuple(size: int) -> Callable[[_Machine, Any], None]:
    def make(machine: _Machine, _: Any) -> None:
        values = tuple(machine.stack[len(machine.stack) - size :])
        del machine.stack[len(machine.stack) - size :]
        machine.stack.append(values)

    return make


def _collect(make: Callable[[list[Any]], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(make(machine.above_mark()))


def _make_dict(values: list[Any]) -> dict[Any, Any]:
    return {_plain_key(key): value for key, value in zip(values[::2], values[1::2], strict=True)}


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_PUSHES = frozenset(
    {
        "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "STRING", "BINSTRING",
        "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE",
        "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "FLOAT", "BINFLOAT",
    }
)  # fmt: skip
_OPERATIONS: dict[str, Callable[[_Machine, Any], Any]] = {
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "INST": _instance,
    "OBJ": _object,
    "REDUCE": _reduce,
    "NEWOBJ": _reduce,
    "NEWOBJ_EX": _new_object_ex,
    "EXT1": _extension,
    "EXT2": _extension,
    "EXT4": _extension,
    "BUILD": _build,
    "PERSID": lambda machine, argument: machine.stack.append(Reference(argument)),
    "BINPERSID": lambda machine, _: machine.stack.append(Reference(machine.stack.pop())),
    "PUT": _store,
    "BINPUT": _store,
    "LONG_BINPUT": _store,
    "MEMOIZE": lambda machine, _: _store(machine, len(machine.memo)),
    "GET": lambda machine, argument: machine.stack.append(machine.memo[argument]),
    "BINGET": lambda machine, argument: machine.stack.append(machine.memo[argument]),
    "LONG_BINGET": lambda machine, argument: machine.stack.append(machine.memo[argument]),
    "MARK": lambda machine, _: machine.stack.append(_Mark()),
    "POP": lambda machine, _: machine.stack.pop(),
    "POP_MARK": lambda machine, _: machine.above_mark(),
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "EMPTY_SET": lambda machine, _: machine.stack.append([]),
    "APPEND": _append,
    "APPENDS": _appends,
    "ADDITEMS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "TUPLE": _collect(tuple),
    "LIST": _collect(list),
    "DICT": _collect(_make_dict),
    "FROZENSET": _collect(tuple),
}
