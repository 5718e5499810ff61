"""The description of an exported network, copied field by field from the JSON of a file.

torch turns these texts into code: it compiles the names of values into a Python function, evaluates
symbolic sizes, follows dotted operators through its own modules, and imports the types in tree
specifications. So nothing is passed on that has no rule here. What only helps debugging (stack
traces, sources, guards, custom metadata) is left out.
"""

import json
import keyword
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.archive import TRUSTED
from closedform.networks.untrusted.graph_operators import clean_operator
from closedform.networks.untrusted.shapes import clean_expression
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

Rule = Callable[[Any], Any]
"""Takes a value of the file, returns its clean copy, or raises ModelFileError."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,499}")
_PATH_PART = re.compile(r"[A-Za-z0-9_@ \-]{1,200}")
_STACK_KEY = re.compile(r"[A-Za-z0-9_@ .\-\[\]']{0,1000}")
_CLASS_NAME = re.compile(r"[A-Za-z0-9_.<>]{0,1000}")
_RANGE_NAME = re.compile(r"[A-Za-z0-9_ +\-*/(),]{1,1000}")
_LONG_COUNTER = re.compile(r"(u|zuf)[0-9]{7,}.*")
_MODULE_SEPARATOR = ";"
_TREE_KINDS = ("builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict")


def clean_program(content: bytes) -> bytes:
    """The JSON of an exported network with nothing in it that torch would run.

    Raises
    ------
    ModelFileError
        If a part is not of a known form; the message says which.
    """
    try:
        return json.dumps(PROGRAM(json.loads(content))).encode()
    except RecursionError as error:
        raise ModelFileError("The network's description is nested too deeply.") from error
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The network's description is not JSON ({error}).") from error


def record(**fields: Rule) -> Rule:
    """A rule for an object with these fields; it leaves out all others."""

    def check(value: Any) -> Any:
        if not isinstance(value, dict):
            raise refused("an object", value)
        return {name: rule(value[name]) for name, rule in fields.items() if name in value}

    return check


def union(**choices: Rule) -> Rule:
    """A rule for an object with exactly one of these fields."""

    def check(value: Any) -> Any:
        if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in choices:
            raise refused(f"one of {', '.join(choices)}", value)
        name = next(iter(value))
        return {name: choices[name](value[name])}

    return check


def each(rule: Rule) -> Rule:
    """A rule for a list."""

    def check(value: Any) -> Any:
        if not isinstance(value, list):
            raise refused("a list", value)
        return [rule(part) for part in value]

    return check


def mapping(key: Rule, rule: Rule) -> Rule:
    """A rule for an object with any names."""

    def check(value: Any) -> Any:
        if not isinstance(value, dict):
            raise refused("an object", value)
        return {key(name): rule(part) for name, part in value.items()}

    return check


def optional(rule: Rule) -> Rule:
    """A rule for a value that may be missing."""
    return lambda value: None if value is None else rule(value)


def constant(value: Any) -> Rule:
    """A rule that puts this in place of whatever the file says."""
    return lambda _: value


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise refused("true or false", value)
    return value


def integer(value: Any) -> int:
    """A number of at most 64 bits."""
    if type(value) is not int or not -(2**63) <= value < 2**64:
        raise refused("an integer", value)
    return value


def number(value: Any) -> Any:
    """A real number; torch writes those that JSON lacks as texts."""
    if value in ("Infinity", "-Infinity", "NaN") or type(value) is float:
        return value
    return integer(value)


def text(value: Any) -> str:
    """A text that torch uses as a value only, never as code."""
    if not isinstance(value, str) or len(value) > 10_000:
        raise refused("a short text", value)
    return value


def identifier(value: Any) -> str:
    """The name of a value; torch makes a variable of it."""
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value) or keyword.iskeyword(value):
        raise refused("a plain name", value)
    return value


def path(value: Any) -> str:
    """The dotted name of a layer or a weight; torch follows it through the network's attributes."""
    if not isinstance(value, str) or not all(map(_is_path_part, value.split(".") if value else ())):
        raise refused("the name of a layer or a weight", value)
    return value


def _is_path_part(part: str) -> bool:
    is_plain = _PATH_PART.fullmatch(part) is not None and not part.startswith("__")
    return is_plain and part not in _taken_names()


@cache
def _taken_names() -> frozenset[str]:
    """What every module has, such as `forward`; torch registers nothing under such a name."""
    return frozenset(dir(torch.nn.Module()))


def _argument_name(value: Any) -> str:
    return "" if value == "" else identifier(value)


def _pattern(pattern: re.Pattern[str], what: str) -> Rule:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise refused(what, value)
        return value

    return check


def _range_name(value: Any) -> str:
    name = _pattern(_RANGE_NAME, "a symbolic size")(value)
    if _LONG_COUNTER.fullmatch(name):  # torch counts up to it
        raise refused("a symbolic size", value)
    return name


def _module_stack(value: Any) -> str:
    """Entries 'key,path,class', of which a layer is made again."""
    if not isinstance(value, str):
        raise refused("the layers around an operation", value)
    entries = []
    for entry in value.split(_MODULE_SEPARATOR):
        parts = entry.split(",")
        if len(parts) != 3:
            raise refused("a layer around an operation", entry)
        key = _pattern(_STACK_KEY, "the key of a layer")(parts[0])
        kind = _pattern(_CLASS_NAME, "the class of a layer")(parts[2])
        entries.append(f"{key},{path(parts[1])},{kind}")
    return _MODULE_SEPARATOR.join(entries)


def _tree(value: Any) -> str:
    """How arguments are nested: tuples, lists and dictionaries, whose keys are texts or numbers."""
    try:
        version, tree = json.loads(text(value))
    except (ValueError, TypeError) as error:
        raise refused("a tree of arguments", value) from error
    return json.dumps([integer(version), _branch(tree)])


def _branch(tree: Any) -> dict[str, Any]:
    checked = record(type=optional(text), context=optional(text), children_spec=each(_branch))(tree)
    kind, context, children = (checked.get(name) for name in ("type", "context", "children_spec"))
    if kind is None and context is None and children == []:
        return checked
    if kind not in _TREE_KINDS:
        raise refused(f"one of {', '.join(_TREE_KINDS)}", kind)
    keys = json.loads(context or "null")
    is_list = isinstance(keys, list) and all(isinstance(key, str | int) for key in keys)
    if keys is not None and not is_list:
        raise refused("the keys of a dictionary", context)
    return {**checked, "context": json.dumps(keys)}


def refused(expected: str, value: Any) -> ModelFileError:
    """What is said of a part that is not of a known form."""
    return ModelFileError(
        f"The network's description holds {value!r:.200} where {expected} belongs. Export the "
        f"network again with torch.export. {TRUSTED}"
    )


def _graph(value: Any) -> Any:
    return GRAPH(value)


_DEVICE = record(type=_pattern(re.compile(r"[a-z]{1,20}"), "a device"), index=optional(integer))
_HINT = union(as_int=integer, as_bool=flag, as_float=number)
_EXPRESSION = record(expr_str=clean_expression, hint=optional(_HINT))
_SYMBOLIC_INT = union(as_expr=_EXPRESSION, as_int=integer)
_INT_ARGUMENT = union(as_name=identifier, as_int=integer)
_FLOAT_ARGUMENT = union(as_name=identifier, as_float=number)
_BOOL_ARGUMENT = union(as_name=identifier, as_bool=flag)
_NAMED = record(name=identifier)
_OPTIONAL_TENSOR = union(as_tensor=_NAMED, as_none=flag)


def tensor_rule(size: Rule) -> Rule:
    """A rule for the shape, type and place of a tensor, whose sizes follow another rule."""
    return record(
        dtype=integer,
        sizes=each(size),
        requires_grad=flag,
        device=_DEVICE,
        strides=each(size),
        storage_offset=size,
        layout=integer,
    )


ARGUMENT = union(
    as_none=flag,
    as_tensor=_NAMED,
    as_tensors=each(_NAMED),
    as_int=integer,
    as_ints=each(integer),
    as_float=number,
    as_floats=each(number),
    as_string=text,
    as_strings=each(text),
    as_sym_int=_INT_ARGUMENT,
    as_sym_ints=each(_INT_ARGUMENT),
    as_scalar_type=integer,
    as_memory_format=integer,
    as_layout=integer,
    as_device=_DEVICE,
    as_bool=flag,
    as_bools=each(flag),
    as_sym_bool=_BOOL_ARGUMENT,
    as_sym_bools=each(_BOOL_ARGUMENT),
    as_graph=record(name=identifier, graph=_graph),
    as_optional_tensors=each(_OPTIONAL_TENSOR),
    as_sym_float=_FLOAT_ARGUMENT,
    as_sym_floats=each(_FLOAT_ARGUMENT),
    as_optional_tensor=_OPTIONAL_TENSOR,
    as_complex=record(real=number, imag=number),
    as_nested_tensors=each(each(_NAMED)),
    as_int_lists=each(each(integer)),
    as_float_lists=each(each(number)),
)
NODE = record(
    target=clean_operator,
    inputs=each(record(name=_argument_name, arg=ARGUMENT, kind=optional(integer))),
    outputs=each(ARGUMENT),
    metadata=record(nn_module_stack=_module_stack),
    is_hop_single_tensor_return=optional(flag),
    name=optional(identifier),
)
GRAPH = record(
    inputs=each(ARGUMENT),
    outputs=each(ARGUMENT),
    nodes=each(NODE),
    tensor_values=mapping(identifier, tensor_rule(_SYMBOLIC_INT)),
    sym_int_values=mapping(identifier, _SYMBOLIC_INT),
    sym_bool_values=mapping(identifier, union(as_expr=_EXPRESSION, as_bool=flag)),
    sym_float_values=mapping(identifier, union(as_expr=_EXPRESSION, as_float=number)),
    is_single_tensor_return=flag,
)
_CONSTANT = union(as_none=flag, as_int=integer, as_float=number, as_string=text, as_bool=flag)
_INPUT = union(
    user_input=record(arg=ARGUMENT),
    parameter=record(arg=_NAMED, parameter_name=path),
    buffer=record(arg=_NAMED, buffer_name=path, persistent=flag),
    tensor_constant=record(arg=_NAMED, tensor_constant_name=path),
    constant_input=record(name=identifier, value=_CONSTANT),
)
_OUTPUT = union(
    user_output=record(arg=ARGUMENT),
    loss_output=record(arg=_NAMED),
    buffer_mutation=record(arg=_NAMED, buffer_name=path),
    parameter_mutation=record(arg=_NAMED, parameter_name=path),
    gradient_to_parameter=record(arg=_NAMED, parameter_name=path),
    gradient_to_user_input=record(arg=_NAMED, user_input_name=identifier),
    user_input_mutation=record(arg=_NAMED, user_input_name=identifier),
)
_CALL = record(
    inputs=each(ARGUMENT),
    outputs=each(ARGUMENT),
    in_spec=_tree,
    out_spec=_tree,
    forward_arg_names=optional(each(identifier)),
)
_RANGE = record(min_val=optional(integer), max_val=optional(integer))
PROGRAM = record(
    graph_module=record(
        graph=GRAPH,
        signature=record(input_specs=each(_INPUT), output_specs=each(_OUTPUT)),
        module_call_graph=each(record(fqn=path, signature=optional(_CALL))),
        metadata=constant({}),
    ),
    opset_version=mapping(text, integer),
    range_constraints=mapping(_range_name, _RANGE),
    schema_version=record(major=integer, minor=integer),
    verifiers=each(_pattern(re.compile("TRAINING|ATEN|EDGE|"), "a dialect of torch.export")),
    torch_version=text,
)
