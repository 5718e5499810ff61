"""A network out of an ONNX file as a torch module: each node is a layer with its own name."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closedform.errors import ExtractionError, ModelFileError, first_line
from closedform.networks.onnx_file import MAX_ARGUMENTS, MAX_AXES, Graph, Operation, read_graph
from closedform.networks.onnx_operators import READ_AS_NUMBERS, TABLE
from closedform.networks.options import Options
from closedform.networks.torch_state import torch
from closedform.networks.whole_network import LoadedModel

MOST = {"rows": (10**8, 10**11), "constants": (10**7, 10**9)}
"""Numbers, and products and sums: of one pass over a full batch (800 MB, ten seconds), and of what
does not depend on the inputs and is computed while the file is opened."""

_NOT_IN_A_SELECTOR = re.compile(r"[.\[\]@:]")


class OnnxLayer(torch.nn.Module):
    """A node; weights that it uses are its parameters. `units` is the shape of its output for a
    row.
    """

    def __init__(self, operation: Operation, constants: dict[str, Any], units: str | None) -> None:
        super().__init__()
        self.operation = operation
        self.units = units
        self._constants: dict[str, str] = {}
        for name in dict.fromkeys(operation.inputs):
            if name in constants:
                place = self._constants[name] = f"constant_{len(self._constants)}"
                if constants[name].is_floating_point():
                    self.register_parameter(place, constants[name])
                else:
                    self.register_buffer(place, constants[name])

    def forward(self, values: dict[str, Any]) -> Any:
        """The node's output, or a tuple of them, from the values known so far."""
        inputs = [
            getattr(self, self._constants[name]) if name in self._constants else values.get(name)
            for name in self.operation.inputs
        ]
        return _run(self.operation, inputs)

    def type_name(self) -> str:
        """The operator, which stands for the layer's class."""
        return self.operation.kind

    def extra_repr(self) -> str:
        """All that decides what it computes, but for the weights."""
        return repr(self.operation)


class OnnxNetwork(torch.nn.Module):
    """A checked graph; its layers are its nodes, in the order in which they run.

    outputs: the values to return: one alone, several as a dictionary.
    """

    def __init__(self, graph: Graph, steps: list[OnnxLayer], outputs: tuple[str, ...]) -> None:
        super().__init__()
        self._input, self._shape, self._outputs = graph.input, graph.shape, outputs
        for place, step in enumerate(steps):
            name = _layer_name(step.operation, outputs)
            # Names may repeat, or be those of a module's own attributes.
            while hasattr(self, name):
                name = f"{name}_{place}"
            self.add_module(name, step)

    def forward(self, inputs: Any) -> Any:
        """The outputs at rows of inputs."""
        if tuple(inputs.shape[1:]) != self._shape:
            raise ExtractionError(
                f"The network takes rows of shape {self._shape}; the inputs have shape "
                f"{tuple(inputs.shape)}. Check the number of inputs and their order."
            )
        values = {self._input: inputs.to(torch.float64)}
        for step in self.children():
            result = step(values)
            results = result if isinstance(result, tuple) else (result,)
            values |= dict(zip(step.operation.outputs, results, strict=True))  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]
        if len(self._outputs) == 1:
            return values[self._outputs[0]]
        return {name: values[name] for name in self._outputs}

    def extra_repr(self) -> str:
        """Where it begins and ends."""
        return f"{self._input!r} -> {self._outputs!r}"


def load_onnx(file: Path) -> LoadedModel:
    """Open an ``.onnx`` file."""
    graph = read_graph(file)
    plan = _Plan(file, graph)
    values = plan.values
    outputs = tuple(
        name for name in graph.outputs if name in values and values[name].units is not None
    )
    missing = [name for name in graph.outputs if name not in values]
    notes = [
        f"Its output {name!r} is not available: {plan.absent.get(name, 'no node')}."
        for name in missing
    ]
    if not outputs:
        last = next(
            (s.operation.outputs[0] for s in reversed(plan.steps) if s.units is not None), None
        )
        if last is None:
            said = next(iter(plan.absent.values()), "no output depends on the rows of its input")
            raise ModelFileError(f"{file.name} is not opened: {said}.", path=str(file))
        outputs = (last,)
        notes.append(f"The last value that can be computed, {last!r}, was taken for the output.")
    network = OnnxNetwork(graph, plan.steps, outputs)
    return LoadedModel(network, fixed_batch=graph.rows, notes=tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class _Value:
    """What is known of a value before the first pass.

    `like` has its shape and type, and no memory; `known` its numbers, where they follow from the
    file and the number of rows; those of a constant follow from the file alone.
    """

    like: Any
    known: Any = None
    is_constant: bool = False
    units: str | None = None


class _Plan:
    """A graph followed on torch's meta device, which allocates nothing: every shape, and the work,
    are known before the first number is computed.
    """

    def __init__(self, file: Path, graph: Graph) -> None:
        self._file = file
        self._rows = graph.rows or Options().batch_size
        self._spent = {kind: [0, 0] for kind in MOST}
        self.steps: list[OnnxLayer] = []
        self.absent: dict[str, str] = {}
        # As parameters, since several nodes may share one.
        self.values = {
            name: _Value(tensor.to("meta"), _parameter(tensor), is_constant=True)
            for name, tensor in graph.tensors.items()
        }
        self._count("rows", self._rows * math.prod(graph.shape), 0, graph.input)
        start = torch.empty(self._rows, *graph.shape, dtype=torch.float64, device="meta")
        self.values[graph.input] = _Value(start, units="x".join(map(str, graph.shape)))
        for operation in graph.operations:
            reason = self._reason_against(operation)
            if reason is None:
                self._follow(operation)
            else:
                self.absent |= dict.fromkeys(operation.outputs, reason)

    def _reason_against(self, operation: Operation) -> str | None:
        kind = operation.kind
        if "TreeEnsemble" in kind:
            return f"{kind} has no gradient: trees are constant between their steps"
        if kind not in TABLE:
            return f"the operator {kind!r:.60} is not among those that closedform reads"
        for name in operation.inputs:
            if name and name not in self.values:
                return self.absent.get(name, f"the tensor {name!r:.60} holds no numbers")
        return None

    def _follow(self, operation: Operation) -> None:
        inputs = [self.values[name] if name else None for name in operation.inputs]
        given = [entry for entry in inputs if entry is not None]
        is_constant = all(entry.is_constant for entry in given)
        try:
            with torch.device("meta"):
                results = _outputs(operation, _likenesses(operation, inputs))
            self._check(operation, given, results, is_constant)
            known: tuple[Any, ...] = (None,) * len(results)
            # Arithmetic with the lengths of axes, which later shapes may depend on.
            is_small = sum(math.prod(result.shape) for result in results) <= 100
            if is_constant or (is_small and all(entry.known is not None for entry in given)):
                known = _outputs(operation, [None if v is None else v.known for v in inputs])
            elif operation.kind == "Shape":
                known = results
        except ModelFileError:
            raise
        except Exception as error:  # torch raises many kinds for operands that do not fit
            raise ModelFileError(
                f"{self._file.name} is not opened: its node {operation.name!r:.60} "
                f"({operation.kind}) does not fit its inputs ({first_line(error)}). Export it "
                "again."
            ) from error
        for name, result, numbers in zip(operation.outputs, results, known, strict=True):
            numbers = _parameter(numbers) if is_constant else numbers
            units = None if is_constant else self._units(result)
            self.values[name] = _Value(result.to("meta"), numbers, is_constant, units)
        if not is_constant:
            constants = {
                name: self.values[name].known
                for name in operation.inputs
                if name and self.values[name].is_constant
            }
            self.steps.append(
                OnnxLayer(operation, constants, self.values[operation.outputs[0]].units)
            )

    def _units(self, result: Any) -> str | None:
        if not result.is_floating_point() or result.shape[:1] != (self._rows,):
            return None
        return "x".join(map(str, result.shape[1:]))

    def _check(
        self, operation: Operation, given: list[_Value], results: Any, is_constant: bool
    ) -> None:
        numbers = sum(math.prod(result.shape) for result in results)
        work = numbers + sum(math.prod(value.like.shape) for value in given)
        if operation.kind in ("Gemm", "MatMul"):
            work += numbers * given[0].like.shape[0 if operation.given.get("transA") else -1]
        if any(result.ndim > MAX_AXES for result in results):
            raise ValueError(f"more than {MAX_AXES} axes")
        self._count("constants" if is_constant else "rows", numbers, work, operation.kind)

    def _count(self, kind: str, numbers: int, work: int, place: str) -> None:
        spent = self._spent[kind]
        spent[0] += numbers
        spent[1] += work
        most = MOST[kind]
        if spent[0] > most[0] or spent[1] > most[1]:
            what = f"{self._rows:,} rows" if kind == "rows" else "its constants alone"
            raise ModelFileError(
                f"{self._file.name} is not opened: {what} would take {spent[0]:.1e} numbers and "
                f"{spent[1]:.1e} products and sums up to {place!r:.60}; at most {most[0]:.0e} and "
                f"{most[1]:.0e} are allowed."
            )


def _likenesses(operation: Operation, inputs: list[_Value | None]) -> list[Any]:
    """Inputs without numbers, but for those that decide about shapes."""
    found = [None if value is None else value.like for value in inputs]
    for place in READ_AS_NUMBERS.get(operation.kind, ()):
        value = inputs[place] if place < len(inputs) else None
        if value is not None:
            if value.known is None or value.known.numel() > MAX_ARGUMENTS:
                raise ValueError("its shape depends on the numbers in the rows, or on too many")
            found[place] = value.known
    return found


def _outputs(operation: Operation, inputs: list[Any]) -> tuple[Any, ...]:
    result = _run(operation, inputs)
    return result if isinstance(result, tuple) else (result,)


def _run(operation: Operation, inputs: list[Any]) -> Any:
    """One output alone, or a tuple with all that the node names."""
    result = TABLE[operation.kind](inputs, operation.given)
    count = len(result) if isinstance(result, tuple) else 1
    if count != len(operation.outputs):
        raise ValueError(f"it has {len(operation.outputs)} outputs, and {count} are computed")
    return result[0] if isinstance(result, tuple) and count == 1 else result


def _parameter(tensor: Any) -> Any:
    if not tensor.is_floating_point():
        return tensor
    return torch.nn.Parameter(tensor, requires_grad=False)


def _layer_name(operation: Operation, outputs: tuple[str, ...]) -> str:
    """The name of an output where it is one, else the node's own, without what selectors use."""
    named: Iterator[str] = (name for name in operation.outputs if name in outputs)
    name = next(named, operation.name or operation.outputs[0])
    return _NOT_IN_A_SELECTOR.sub("_", name.strip("/"))[:200] or "node"
