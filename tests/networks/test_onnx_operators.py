"""Every operator of the table, in every version that ONNX has of it, against ONNX's reference."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from closedform.networks.onnx_file import OPSETS
from closedform.networks.onnx_network import load_onnx
from closedform.networks.onnx_operators import TABLE

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (5, 4))
DEEP = RNG.uniform(-2, 2, (5, 3, 2))
INSIDE = RNG.uniform(0.1, 0.9, (5, 4))
ROW = RNG.normal(size=4)
ML = "ai.onnx.ml."


@dataclass(frozen=True)
class Case:
    """`others` follow the input in the node's list; None leaves one out."""

    kind: str
    others: tuple[Any, ...] = ()
    x: np.ndarray = field(default_factory=lambda: X)
    given: dict[str, Any] = field(default_factory=dict)
    since: int = 0
    before: int = 99
    # Where the output is true or false, or whole, it is made a real number, as networks do.
    is_real: bool = True
    outputs: int = 1
    expected: Any = None

    def __str__(self) -> str:
        return f"{self.kind}-{list(self.given)}-{len(self.others)}-{self.x.ndim}"


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def old_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    flat = np.exp(x.reshape(int(np.prod(x.shape[:axis])), -1))
    return (flat / flat.sum(axis=1, keepdims=True)).reshape(x.shape)


def normalized(x: np.ndarray, *parts: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    scale, shift, mean, variance = (part.reshape(-1, *[1] * (x.ndim - 2)) for part in parts)
    return (x - mean) / np.sqrt(variance + epsilon) * scale + shift


NORMAL = (ROW, ROW + 1, ROW - 1, ROW**2 + 0.1)
NORMAL_OF_THREE = tuple(part[:3] for part in NORMAL)
REDUCING = (
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSumExp", "ReduceL2",
    "ReduceSumSquare",
)  # fmt: skip
CASES = [
    *(
        Case(kind)
        for kind in (
            "Relu", "Tanh", "Sigmoid", "Exp", "Abs", "Neg", "Reciprocal", "Erf", "Sin", "Cos",
            "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Identity", "Softplus", "Softsign", "HardSwish",
            "Mish", "Elu", "Celu", "Selu", "LeakyRelu", "HardSigmoid", "Gelu", "Swish",
        )
    ),
    *(Case(kind, x=INSIDE) for kind in ("Log", "Sqrt", "Asin", "Acos", "Atanh")),
    Case("Acosh", x=INSIDE + 1),
    Case("Softplus", x=np.array([[30.0, -30.0, 0.0, 21.0]])),
    Case("Elu", given={"alpha": 0.5}),
    Case("Celu", given={"alpha": 0.5}),
    Case("Selu", given={"alpha": 2.0, "gamma": 0.5}),
    Case("LeakyRelu", given={"alpha": 0.3}),
    Case("HardSigmoid", given={"alpha": 0.3, "beta": 0.4}),
    Case("Gelu", given={"approximate": "tanh"}),
    Case("Swish", given={"alpha": 0.5}),
    *(Case(kind, (ROW,)) for kind in ("Add", "Sub", "Mul", "Div", "PRelu", "Sum", "Max", "Min")),
    Case("Div", (whole(2, 3, 4, 5),), x=np.array([[7.0, 8.0, 9.0, 10.0]]), is_real=False),
    *(Case(kind, (ROW, np.ones((1, 1)))) for kind in ("Sum", "Max", "Min")),
    Case("Pow", (np.array(2.0),)),
    Case("Pow", (np.array([0.5, -1.0, 2.0, 3.0]),), x=INSIDE),
    *(
        Case(kind, (ROW,), is_real=False)
        for kind in ("Greater", "Less", "GreaterOrEqual", "LessOrEqual")
    ),
    Case("Equal", (X[0],), is_real=False),
    Case("Equal", (X[0],), is_real=False, since=11),
    *(Case(kind, (np.array([[True, False, True, False]]),), x=X > 0, is_real=False)
      for kind in ("And", "Or")),
    Case("Not", x=X > 0, is_real=False),
    Case("Where", (ROW, np.array(0.5)), x=X > 0),
    Case("MatMul", (RNG.normal(size=(4, 2)),)),
    Case("MatMul", (RNG.normal(size=4),)),
    Case("MatMul", (RNG.normal(size=(2, 3)),), x=DEEP),
    Case("Gemm", (RNG.normal(size=(4, 2)), RNG.normal(size=2))),
    Case("Gemm", (RNG.normal(size=(4, 2)),), since=11),
    Case("Gemm", (RNG.normal(size=(2, 4)), RNG.normal(size=2)),
         given={"transB": 1, "alpha": 0.5, "beta": 2.0}),
    Case("Gemm", (RNG.normal(size=(5, 2)), RNG.normal(size=(4, 2))), given={"transA": 1}),
    Case("Clip", given={"min": -0.5, "max": 1.0}, before=11),
    Case("Clip", given={"max": 1.0}, before=11),
    Case("Clip", (np.array(-0.5), np.array(1.0)), since=11),
    Case("Clip", (None, np.array(1.0)), since=11),
    Case("Clip", since=11),
    *(Case(kind, given=given, x=x, since=13)
      for kind in ("Softmax", "LogSoftmax") for x in (X, DEEP) for given in ({}, {"axis": 1})),
    Case("Softmax", x=DEEP, before=13, expected=old_softmax(DEEP, 1)),
    Case("Softmax", x=DEEP, given={"axis": 2}, before=13, expected=old_softmax(DEEP, 2)),
    Case("LogSoftmax", x=DEEP, before=13, expected=np.log(old_softmax(DEEP, 1))),
    # The reference has no old versions of these two.
    Case("BatchNormalization", NORMAL, expected=normalized(X, *NORMAL)),
    Case("BatchNormalization", NORMAL, since=14),
    Case("BatchNormalization", NORMAL_OF_THREE, x=DEEP, given={"epsilon": 0.1},
         expected=normalized(DEEP, *NORMAL_OF_THREE, epsilon=0.1)),
    Case("LayerNormalization", (ROW,)),
    Case("LayerNormalization", (RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))), x=DEEP,
         given={"axis": 1, "epsilon": 0.01}),
    *(Case(kind, given=given, x=DEEP, before=13 if kind == "ReduceSum" else 18)
      for kind in REDUCING for given in ({"axes": [1]}, {"axes": [-1, 1], "keepdims": 0})),
    *(Case(kind, (whole(*axes),), given=given, x=DEEP, since=13 if kind == "ReduceSum" else 18)
      for kind in REDUCING for axes, given in (([1], {}), ([2, 1], {"keepdims": 0}))),
    Case("Cast", given={"to": TensorProto.DOUBLE}),
    Case("Cast", given={"to": TensorProto.INT64}, is_real=False),
    Case("Cast", given={"to": TensorProto.BOOL}, is_real=False),
    Case("Reshape", (whole(-1, 2),)),
    Case("Reshape", (whole(0, 2, 2),)),
    Case("Reshape", (whole(5, -1),), x=DEEP, given={"allowzero": 1}, since=14),
    *(Case("Flatten", x=DEEP, given=given) for given in ({}, {"axis": 0}, {"axis": 2},
                                                         {"axis": 3})),
    Case("Flatten", x=DEEP, given={"axis": -1}, since=11),
    Case("Squeeze", x=DEEP[:, :1], given={"axes": [1]}, before=13),
    Case("Squeeze", (whole(1),), x=DEEP[:, :1], since=13),
    Case("Squeeze", x=DEEP[:, :1]),
    Case("Unsqueeze", given={"axes": [0, 2]}, before=13),
    Case("Unsqueeze", (whole(-1),), since=13),
    Case("Unsqueeze", (whole(3, 1),), since=13),
    Case("Transpose", x=DEEP),
    Case("Transpose", x=DEEP, given={"perm": [0, 2, 1]}),
    Case("Concat", (np.ones((5, 2)), RNG.normal(size=(5, 1))), given={"axis": 1}),
    Case("Concat", (np.ones((5, 3, 1)),), x=DEEP, given={"axis": -1}),
    Case("Slice", given={"starts": [1, 0], "ends": [3, 10**9], "axes": [1, 0]}, before=10),
    Case("Slice", (whole(1), whole(-1), whole(1)), since=10),
    Case("Slice", (whole(0, 1), whole(5, 3)), since=10),
    Case("Slice", (whole(3), whole(-(2**62)), whole(1), whole(-2)), since=10),
    Case("Slice", (whole(0, 2), whole(2**62, -9), whole(1, 2), whole(2, -1)), x=DEEP, since=10),
    Case("Split", given={"axis": 1}, outputs=2, before=18),
    Case("Split", given={"axis": 1, "split": [1, 3]}, outputs=2, before=13),
    Case("Split", (whole(3, 1),), given={"axis": -1}, outputs=2, since=13),
    Case("Split", given={"axis": 1, "num_outputs": 3}, x=DEEP, outputs=3, since=18),
    Case("Gather", (whole(2, -1),), given={"axis": 1}),
    Case("Gather", (np.array(1),), given={"axis": 1}),
    Case("Gather", (np.array([[0, 1], [2, 0]]),), x=DEEP, given={"axis": -2}),
    Case("Shape", is_real=False),
    Case("Shape", given={"start": 1, "end": -1}, x=DEEP, is_real=False, since=15),
    Case("Expand", (whole(5, 4),), x=X[:, :1]),
    Case("Expand", (whole(2, 1, 1),)),
    Case(f"{ML}Scaler", given={"offset": [1.0, 2, 3, 4], "scale": [0.5, 1, 2, 3]}),
    Case(f"{ML}Scaler", given={"offset": [1.0], "scale": [0.5]}),
    Case(f"{ML}LinearRegressor", given={"coefficients": [1.0, 2, 3, 4], "intercepts": [0.5]}),
    Case(f"{ML}LinearRegressor", given={"coefficients": [float(n) for n in range(8)],
                                        "targets": 2, "intercepts": [1.0, 2.0]}),
    Case(f"{ML}ArrayFeatureExtractor", (whole(2, 0),)),
]  # fmt: skip


@cache
def history() -> dict[str, list[int]]:
    """Since which operator sets an operator means what it does."""
    found: dict[str, list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault(schema.name, []).append(schema.since_version)
    return found


def versions(kind: str) -> list[int]:
    """Operator sets that differ in this operator."""
    if kind.startswith(ML):
        return [OPSETS[-1]]
    since = history()[kind]
    oldest = [OPSETS[0]] if min(since) <= OPSETS[0] else []
    return sorted({*oldest, *(version for version in since if version in OPSETS)})


def model_of(case: Case, opset: int) -> onnx.ModelProto:
    """The case as a file: first from real inputs to what the operator takes, then back to them."""
    domain, name = (
        ("ai.onnx.ml", case.kind[len(ML) :]) if case.kind.startswith(ML) else ("", case.kind)
    )
    nodes, source = [], "x"
    if case.x.dtype == bool:
        nodes.append(helper.make_node("Cast", ["x"], ["given"], to=TensorProto.BOOL))
        source = "given"
    if case.kind == "Div" and not case.is_real:
        nodes.append(helper.make_node("Cast", ["x"], ["given"], to=TensorProto.INT64))
        source = "given"
    others = [("" if o is None else f"other{n}") for n, o in enumerate(case.others)]
    results = [f"y{n}" for n in range(case.outputs)]
    nodes.append(helper.make_node(name, [source, *others], results, domain=domain, **case.given))
    if not case.is_real:
        nodes.append(helper.make_node("Cast", ["y0"], ["z"], to=TensorProto.DOUBLE))
        results = ["z"]
    # A network must have an output with rows.
    nodes.append(helper.make_node("ReduceSum", [results[0]], ["total"], keepdims=0))
    nodes.append(helper.make_node("Add", ["x", "total"], ["shown"]))
    return helper.make_model(
        helper.make_graph(
            nodes,
            "case",
            [helper.make_tensor_value_info("x", TensorProto.DOUBLE, case.x.shape)],
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, []) for name in results],
            [
                numpy_helper.from_array(np.asarray(other), f"other{place}")
                for place, other in enumerate(case.others)
                if other is not None
            ],
        ),
        opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 2)],
        ir_version=10,
    )


def computed(model: onnx.ModelProto, x: np.ndarray, path: Path) -> dict[str, np.ndarray]:
    """All values at rows of x, whatever they are."""
    path.write_bytes(model.SerializeToString())
    network = load_onnx(path).model
    values: dict[str, Any] = {"x": torch.from_numpy(x.astype(np.float64))}
    for step in network.children():
        result = step(values)
        results = result if isinstance(result, tuple) else (result,)
        values |= dict(zip(step.operation.outputs, results, strict=True))
    return {name: value.numpy() for name, value in values.items()}


def opsets(case: Case) -> list[int]:
    return [opset for opset in versions(case.kind) if case.since <= opset < case.before]


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_operators_agree_with_the_reference(kind: str, tmp_path: Path) -> None:
    pairs = [(case, opset) for case in CASES if case.kind == kind for opset in opsets(case)]
    for case, opset in pairs:
        model = model_of(case, opset)
        found = computed(model, case.x, tmp_path / "case.onnx")
        names = [output.name for output in model.graph.output]
        expected: Any = [case.expected]
        if case.expected is None:
            expected = ReferenceEvaluator(model).run(None, {"x": case.x.astype(np.float64)})
        for name, values in zip(names, expected, strict=True):
            message = f"{case}, operator set {opset}"
            assert found[name].shape == values.shape, message
            np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-7, err_msg=message)


def test_every_version_of_every_operator_has_a_case() -> None:
    tested = {(case.kind, opset) for case in CASES for opset in opsets(case)}
    wanted = {(kind, opset) for kind in TABLE for opset in versions(kind)}
    assert wanted - tested == {("ConstantOfShape", o) for o in versions("ConstantOfShape")}


@pytest.mark.parametrize("opset", versions("ConstantOfShape"))
def test_constants_of_a_shape(opset: int, tmp_path: Path) -> None:
    value = helper.make_tensor("value", TensorProto.DOUBLE, [1], [0.5])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["half"], value=value),
        helper.make_node("ConstantOfShape", ["shape"], ["zero"]),
        helper.make_node("Sum", ["x", "half", "zero"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "case",
        [info("x", TensorProto.DOUBLE, ["n", 4])],
        [info("y", TensorProto.DOUBLE, [])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    np.testing.assert_allclose(computed(model, X, tmp_path / "case.onnx")["y"], X + 0.5)
