"""Frozen data with expressions in them as JSON files, written at once or not at all."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from closedform.basics import limits
from closedform.basics.files import reading, write_text
from closedform.errors import StorageError, UnknownFunctionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.sites import FormulaOfSums, Group, parse_sums

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """A kind of file."""

    name: str  # stands in the file
    schema: int  # version of the layout; later ones are refused
    written_by: str  # the method that writes such files, for messages
    # Whether entries of other types and with other names are refused; else they are converted, and
    # passed over.
    is_strict: bool = False

    def plain(self, data: Any) -> Any:
        """A dataclass as dictionaries, lists, numbers and texts."""
        return _converter(self.is_strict).unstructure(data)

    def structured(self, content: Any, kind: type[T]) -> T:
        """What `plain` was made from. Content that does not fit raises errors of any kind; `load`
        says which file it was.
        """
        try:
            return _converter(self.is_strict).structure(content, kind)
        except Exception as error:  # cattrs collects errors of any kind in groups of its own
            innermost = _innermost(error)
            if isinstance(innermost, UnknownFunctionError):
                raise StorageError(
                    f"The {self.name} holds the operator {innermost.name!r}, which is not "
                    f"defined here; define it with "
                    f"closedform.Operator({innermost.name!r}, ...) before you load the file."
                ) from error
            raise innermost from error

    def write(self, content: dict[str, Any], path: str | Path) -> None:
        """Write plain content; an interrupted write leaves the old file."""
        write_text(
            path, json.dumps({"format": self.name, "schema": self.schema, **content}, indent=1)
        )

    def load(self, path: str | Path, build: Callable[[dict[str, Any]], T]) -> T:
        """What a file holds, made by `build` from its plain content."""
        try:
            with reading(path, f"pass a file that {self.written_by} wrote"):
                return build(self.checked(_content(path), path))
        except OSError as error:
            raise StorageError(
                f"{path} cannot be read ({error.strerror}); pass a file that {self.written_by} "
                "wrote."
            ) from error

    def checked(self, content: Any, path: str | Path) -> dict[str, Any]:
        """Content without its format and schema, if this version reads them."""
        found = content.pop("format", None) if isinstance(content, dict) else None
        if found != self.name:
            raise ValueError(f"it holds {found!r:.60}, not a {self.name}")
        schema = content.pop("schema", None)
        if type(schema) is not int or schema < 1:
            raise ValueError(f"its schema is {schema!r:.50}")
        if schema > self.schema:
            raise StorageError(
                f"{path} has schema {schema}, and this version reads up to {self.schema}; "
                f"upgrade closedform."
            )
        return content


def stated_format(path: str | Path) -> object:
    """What a file says that it holds; None if it does not."""
    with reading(path, "pass a file that closedform wrote"):
        content = _content(path)
    return content.get("format") if isinstance(content, dict) else None


def _content(path: str | Path) -> Any:
    size = Path(path).stat().st_size
    if size > limits.TEXT:
        raise ValueError(f"it has {size:,} bytes, and at most {limits.TEXT:,} are read")
    return json.loads(Path(path).read_text(encoding="utf-8"))


@cache
def _converter(is_strict: bool) -> Any:
    from cattrs.preconf.json import make_converter

    converter = make_converter(forbid_extra_keys=is_strict)
    for kind in (str, bool, int, float) if is_strict else ():
        converter.register_structure_hook(kind, _typed)
    converter.register_unstructure_hook(Expression, _written)
    converter.register_structure_hook(Expression, lambda value, _: _read(value))
    return converter


def _typed(value: Any, kind: type) -> Any:
    """A value that is of a type already; a whole number is also a float, and a boolean neither."""
    fits = isinstance(value, (int, float) if kind is float else kind)
    if not fits or isinstance(value, bool) != (kind is bool):
        raise ValueError(f"{value!r:.50} is not of the type {kind.__name__}")
    return kind(value)


def _written(formula: Expression) -> dict[str, Any]:
    """A formula as text; one of sums over sites with the groups that it runs over."""
    plain = Expression(formula.tree, formula.names)
    content: dict[str, Any] = {"text": str(plain), "names": list(formula.names)}
    if not isinstance(formula, FormulaOfSums):
        return content
    return {
        **content,
        "sums": [str(each) for each in formula.sums],
        "alone": list(formula.alone),
        "inputs": list(formula.inputs),
        "groups": {each.name: asdict(each.group) for each in formula.sums},
    }


def _read(value: dict[str, Any]) -> Expression:
    plain = parse(value["text"], names=value["names"])
    if "sums" not in value:
        return plain
    groups = {name: Group(**content) for name, content in value["groups"].items()}
    inputs, alone = tuple(value["inputs"]), tuple(int(column) for column in value["alone"])
    sums = tuple(parse_sums(text, groups, inputs).sums[0] for text in value["sums"])
    wanted = [*map(str, sums), *(inputs[column] for column in alone)]
    if wanted != list(plain.names):
        raise ValueError("its sums are not the inputs of its formula")
    return FormulaOfSums(plain.tree, plain.names, sums, alone, inputs)


def _innermost(error: BaseException) -> BaseException:
    """The converter wraps one group around another."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
