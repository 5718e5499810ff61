"""300 ONNX files, damaged or made to do harm, each opened in a process of its own.

``python bench/scripts/hostile_onnx.py [SEED]`` says how many hang beyond 10 s, take beyond 1 GB, or
raise anything but the package's errors. Processes are forked when everything is imported, so that
seconds are those of opening; they are processor seconds, and the memory is that of the whole
process.
"""

import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Before the first fork.
import closedform.networks.onnx_network  # noqa: F401
from closedform.errors import ClosedformError
from closedform.networks.model_files import load_network
from closedform.networks.torch_layers import list_layers

COUNT, SECONDS, MEMORY = 300, 10.0, 2**30
FLOAT = TensorProto.FLOAT
FORK = multiprocessing.get_context("fork")


def info(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    """A value of real numbers."""
    return helper.make_tensor_value_info(name, FLOAT, shape)


def node(kind: str, inputs: list[str], output: str = "y", **given: object) -> onnx.NodeProto:
    """A node with one output."""
    return helper.make_node(kind, inputs, [output], **given)  # pyright: ignore[reportArgumentType]


def model(
    nodes: list[onnx.NodeProto],
    shape: list[int | str] | None = None,
    opset: int = 17,
    **arrays: np.ndarray,
) -> onnx.ModelProto:
    """A network from x to y."""
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", [info("x", shape or ["n", 3])], [info("y", [])], tensors)
    sets = [helper.make_opsetid(name, v) for name, v in (("", opset), ("evil", 1))]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def sound(rng: random.Random) -> bytes:
    """A network that opens, for bits to be flipped in."""
    width = rng.choice([4, 16, 64])
    draw = np.random.default_rng(rng.randrange(2**32)).normal
    nodes = [
        node("MatMul", ["x", "a"], "h"), node("Tanh", ["h"], "t"), node("Shape", ["t"], "s"),
        node("Reshape", ["t", "s"], "r"), node("Slice", ["r", "start", "to", "axis"], "c"),
        node("Softmax", ["c"], "m", axis=1), node("Gemm", ["m", "b"]),
    ]  # fmt: skip
    return model(
        nodes, a=draw(size=(3, width)).astype(np.float32), b=draw(size=(2, 1)).astype(np.float32),
        start=np.array([0]), to=np.array([2]), axis=np.array([1]),
    ).SerializeToString()  # fmt: skip


def flipped(rng: random.Random) -> bytes:
    """A few bits turned."""
    content = bytearray(sound(rng))
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def cut(rng: random.Random) -> bytes:
    """An end or a middle missing, or twice."""
    content = sound(rng)
    first, last = sorted(rng.randrange(len(content)) for _ in range(2))
    return rng.choice(
        [content[:first], content[:first] + content[last:], content + content[first:]]
    )


def doubling(rng: random.Random) -> onnx.ModelProto:
    """Functions that call each other twice."""
    count = rng.randint(20, 60)
    made = model([helper.make_node(f"F{count - 1}", ["x"], ["y"], domain="evil")])
    for place in range(count):
        kind, domain = ("Relu", "") if place == 0 else (f"F{place - 1}", "evil")
        calls = [helper.make_node(kind, [a], [b], domain=domain) for a, b in ("ab", "bc")]
        made.functions.append(
            helper.make_function("evil", f"F{place}", ["a"], ["c"], calls, made.opset_import)
        )
    return made


def cycle(rng: random.Random) -> onnx.ModelProto:
    """Nodes that wait for each other."""
    names = [f"v{place}" for place in range(rng.randint(2, 2000))]
    nodes = [node("Relu", [a], b) for a, b in zip(names, names[1:] + names[:1], strict=True)]
    return model([*nodes, node("Add", ["x", "v0"])])


def claimed(rng: random.Random) -> onnx.ModelProto:
    """A tensor that claims more than it has."""
    made = model([node("MatMul", ["x", "w"])], w=np.ones((3, 2), np.float32))
    dims = [[3, 10**12], [2**40, 2**40], [-3, 2], [3, 0], [1] * 5000, [2**62, 2, 2]]
    made.graph.initializer[0].dims[:] = rng.choice(dims)
    return made


def bomb(rng: random.Random) -> onnx.ModelProto:
    """Small constants that grow."""
    size = 10 ** rng.randint(5, 9)
    big = np.array([size, size])
    tail = [node("ReduceSum", ["b"], "s"), node("Add", ["x", "s"])]
    one = np.ones((1, 1), np.float32)
    column = np.ones((min(size, 10**6), 1), np.float32)
    return rng.choice(
        [
            lambda: model([node("ConstantOfShape", ["d"], "b"), *tail], d=big),
            lambda: model([node("Expand", ["o", "d"], "b"), *tail], o=one, d=big),
            lambda: model([node("MatMul", ["c", "r"], "b"), *tail], c=column, r=column.T.copy()),
            lambda: model([node("Add", ["c", "r"], "b"), *tail], c=column, r=column.T.copy()),
            lambda: model([node("Reshape", ["x", "d"])], d=big),
            lambda: model([node("Expand", ["x", "d"])], d=np.array([size, 1, 3])),
            lambda: model([node("Concat", ["x"] * 900, axis=1)], ["n", size // 100]),
        ]
    )()


def growing(rng: random.Random) -> onnx.ModelProto:
    """A chain in which each value is larger than the one before, or as large and many."""
    count, kind = rng.randint(20, 9000), rng.choice(["Concat", "MatMul", "Add", "Reciprocal"])
    names = ["w", *(f"v{place}" for place in range(count))]
    inputs = {"Concat": 2, "MatMul": 2, "Add": 2, "Reciprocal": 1}[kind]
    given = {"axis": 0} if kind == "Concat" else {}
    nodes = [
        node(kind, [a] * inputs, b, **given) for a, b in pairwise(names)
    ]  # fmt: skip
    nodes += [node("ReduceSum", [names[-1]], "s"), node("Add", ["x", "s"])]
    side = rng.choice([30, 300, 1000])
    return model(nodes, w=np.full((side, side), 0.5, np.float32))


def control(rng: random.Random) -> onnx.ModelProto:
    """Loops and branches, some inside each other."""
    graph = helper.make_graph([node("Relu", ["x"], "b")], "g", [], [info("b", [])])
    for _ in range(rng.randint(1, 60)):
        inner = helper.make_node("If", ["c"], ["b"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([inner], "g", [], [info("b", [])])
        if len(graph.SerializeToString()) > 10**6:
            break
    kind = rng.choice(["If", "Loop", "Scan"])
    if kind == "If":
        return model([node("If", ["c"], then_branch=graph, else_branch=graph)], c=np.array(True))
    return model([node(kind, ["m", "c", "x"], body=graph)], m=np.array(2**62), c=np.array(True))


def many(rng: random.Random) -> bytes:
    """Very many nodes, attributes, arguments or empty fields."""
    kind = rng.choice(["nodes", "empty", "attributes", "arguments", "outputs", "deep"])
    if kind == "nodes":
        names = ["x", *(f"v{place}" for place in range(100_000 - 1)), "y"]
        return model([node("Relu", [a], b) for a, b in pairwise(names)]).SerializeToString()
    if kind == "empty":
        nodes = rng.choice([b"\x0a\x00", b"\x2a\x00", b"\x6a\x00"]) * rng.choice(
            [10**6, 15 * 10**6]
        )
        return b"\x08\x09\x3a" + _varint(len(nodes)) + nodes
    if kind == "deep":
        content = b""
        for _ in range(rng.choice([90, 2000])):
            # A graph in an attribute of a node of a graph.
            for tag in (b"\x32", b"\x2a", b"\x0a"):
                content = tag + _varint(len(content)) + content
        return b"\x08\x09\x3a" + _varint(len(content)) + content
    made = model([node("Sum", ["x"])])
    only = made.graph.node[0]
    if kind == "attributes":
        for place in range(200_000):
            only.attribute.add(name=f"a{place}", type=onnx.AttributeProto.INT, i=1)
    elif kind == "arguments":
        only.input.extend(["x"] * 500_000)
    else:
        only.output.extend(f"o{place}" for place in range(500_000))
    return made.SerializeToString()


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def outside(rng: random.Random) -> onnx.ModelProto:
    """Weights in other files."""
    made = model([node("MatMul", ["x", "w"])], w=np.ones((3, 2), np.float32))
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    where = ["/etc/passwd", "/dev/zero", "../x", "net.onnx", "net.onnx.data", "\0", "a" * 10**5]
    tensor.external_data.add(key="location", value=rng.choice(where))
    tensor.external_data.add(key="offset", value=rng.choice(["0", "-1", "9" * 5000, "x"]))
    tensor.external_data.add(key="length", value=rng.choice(["24", "-1", "9" * 18]))
    return made


def inputs(rng: random.Random) -> onnx.ModelProto:
    """Inputs of impossible shapes."""
    shapes: list[list[int | str]] = [
        ["n", 10**12], [10**12, 3], ["n", 2**62, 4], ["n", -5], [-5, 3], ["n"], [], ["n", "m"],
        ["n", *[1] * 3000], ["n", *[2] * 40], [10**5, 10**4], ["n", 10**5],
    ]  # fmt: skip
    return model([node("Relu", ["x"])], rng.choice(shapes))


def names(rng: random.Random) -> onnx.ModelProto:
    """Names that repeat, are missing, or are those of something else."""
    name = rng.choice(
        ["", "x", "forward", "_modules", "a" * 10**6, "\x1b[2J", "/../..", "__dict__"]
    )
    nodes = [node(k, ["x"], f"v{n}", name=name) for n, k in enumerate(["Relu", "Exp"] * 2000)]
    nodes = nodes if len(name) < 100 else nodes[:6]
    if rng.random() < 0.5:
        nodes.append(node("Relu", ["x"], rng.choice(["x", "v0", "v1"])))
    return model([*nodes, node("Add", ["v0", rng.choice(["v1", "nothing", "", "y"])])])


def types(rng: random.Random) -> onnx.ModelProto:
    """Numbers where texts belong, and the reverse."""
    made = model([node("Elu", ["x"])])
    only, array = made.graph.node[0], made.graph.initializer.add(name="w")
    array.data_type, array.string_data[:] = TensorProto.STRING, [b"a"] * 10
    array.dims[:] = [10]
    match rng.randrange(7):
        case 0:
            only.attribute.add(name="alpha", type=onnx.AttributeProto.STRING, s=b"x")
        case 1:
            only.attribute.add(name="alpha", type=onnx.AttributeProto.INTS, ints=[1, 2])
        case 2:
            only.CopyFrom(node("Add", ["x", "w"]))
        case 3:
            only.CopyFrom(node("Gather", ["x", "x"]))
        case 4:
            only.CopyFrom(node("Cast", ["x"], to=rng.randrange(-3, 40)))
        case 5:
            array.data_type = rng.randrange(-5, 60)
            only.CopyFrom(node("MatMul", ["x", "w"]))
        case _:
            only.CopyFrom(node("Transpose", ["x"], perm=[2**40, -7]))
    return made


def custom(rng: random.Random) -> onnx.ModelProto:
    """Operators that nobody knows, or of a later set."""
    domain = rng.choice(["evil", "com.microsoft", "ai.onnx.ml", "torch", ""])
    kind = rng.choice(["PyOp", "Loop", "TreeEnsembleRegressor", "os.system", "a" * 10**5, "Relu"])
    made = model([helper.make_node(kind, ["x"], ["y"], domain=domain)])
    made.opset_import[0].version = rng.choice([17, 17, 1, 6, 29, 10**9, -1])
    made.opset_import.append(helper.make_opsetid(domain, rng.choice([1, 2])))
    return made


def indices(rng: random.Random) -> onnx.ModelProto:
    """Slices, splits and axes that are out of range."""
    far = np.array([rng.choice([2**62, -(2**62), 10**6, -1, 0])] * rng.choice([1, 2, 1000]))
    choice = rng.randrange(6)
    if choice == 0:
        return model([node("Slice", ["x", "a", "b", "a", "b"])], a=far, b=far[::-1].copy())
    if choice == 1:
        return model([helper.make_node("Split", ["x", "a"], ["y", "z"], axis=1)], a=far)
    if choice == 2:
        return model([node("Unsqueeze", ["x", "a"])], a=far)
    if choice == 3:
        return model([node("ReduceSum", ["x", "a"])], a=far)
    if choice == 4:
        return model([node("Gather", ["x", "a"], axis=int(far[0]))], a=far)
    return model([node("Softmax", ["x"], axis=int(far[0]))], opset=rng.choice([7, 17]))


CRAFTED: list[Callable[[random.Random], onnx.ModelProto | bytes]] = [
    doubling, cycle, claimed, bomb, growing, control, many, outside, inputs, names, types, custom,
    indices,
]  # fmt: skip


def kind_of(place: int) -> Callable[[random.Random], onnx.ModelProto | bytes]:
    """A third is damaged, the others are made."""
    return (flipped, cut)[place % 2] if place < COUNT // 3 else CRAFTED[place % len(CRAFTED)]


def write(path: Path, seed: int, place: int) -> None:
    """Make one file, and weights beside it."""
    made = kind_of(place)(random.Random(f"{seed} {place}"))
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    path.with_name("net.onnx.data").write_bytes(bytes(24))


def open_here(path: Path, sender: Connection) -> None:
    """Open a file, and send what came of it, the processor seconds and the bytes."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * SECONDS), int(3 * SECONDS)))
    began = time.process_time()
    try:
        list_layers(load_network(path))
        said, message = "opened", ""
    except ClosedformError as error:
        said, message = "refused", str(error)
    except BaseException as error:
        said, message = f"raised {type(error).__name__}", str(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sender.send((said, time.process_time() - began, peak, message))


def opened(path: Path) -> tuple[str, float, int, str]:
    """What a process says of a file; one that says nothing hung or crashed."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=open_here, args=(path, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        return f"ended with {process.exitcode}", 0.0, 0, ""
    finally:
        process.join()


def main() -> None:
    """Make, open, count."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    tally: Counter[str] = Counter()
    slowest, largest, faults = 0.0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.onnx")
        for place in range(COUNT):
            # Not here: whoever opens a file inherits this process's memory.
            maker = FORK.Process(target=write, args=(path, seed, place))
            maker.start()
            maker.join()
            if maker.exitcode:
                raise RuntimeError(f"file {place} was not made")
            said, seconds, peak, message = opened(path)
            tally[said] += 1
            slowest, largest = max(slowest, seconds), max(largest, peak)
            if said not in ("opened", "refused") or seconds > SECONDS or peak > MEMORY:
                faults += 1
                size = f"{seconds:.1f} s, {peak / 2**20:.0f} MB"
                print(
                    f"{place} {kind_of(place).__name__}: {said}, {size}: {message[-300:]}",
                    flush=True,
                )
    found = ", ".join(f"{count} {word}" for word, count in sorted(tally.items()))
    print(
        f"seed {seed}: {sum(tally.values())} files, {found}; slowest {slowest:.1f} s, largest "
        f"{largest / 2**20:.0f} MB; beyond a limit or with another error: {faults}"
    )


if __name__ == "__main__":
    main()
