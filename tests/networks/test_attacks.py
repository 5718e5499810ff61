"""Attacks on files of torch.export: each would run code or write a file, and none does.

An attack writes a file in a folder. What it would run creates the file `canary`. The tests at the
end show, for those that torch itself falls for, that they are real.
"""

import contextlib
import io
import json
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from closedform.cli.app import app
from closedform.networks.errors import ModelFileError
from closedform.networks.layer_list import list_layers
from closedform.networks.model_files import load_model
from closedform.networks.untrusted.inspection import inspect_file

Attack = Callable[[Path], Path]
Harmless = Callable[[], AbstractContextManager[None]]
Entries = list[tuple[str, bytes]]

CANARY = "canary"
CODE = f"open({CANARY!r}, 'w').close()"


def evil() -> bytes:
    return b"\x80\x02cbuiltins\nexec\n(" + pickle.dumps(CODE, 2)[2:-1] + b"tR."


def saved(payload: bytes, **others: bytes) -> bytes:
    """The archive that torch.save would write around a pickle."""
    parts = {"data.pkl": payload, "version": b"3\n", "byteorder": b"little", **others}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"archive/{name}", content)
    return buffer.getvalue()


class Network(nn.Module):
    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2)
        self.register_buffer("scale", torch.ones(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            shift = x * 2
        return self.first(x * self.scale) + shift[:, :2]


@cache
def network() -> Network:
    torch.manual_seed(0)
    return Network().eval()


@cache
def exported() -> tuple[tuple[str, bytes], ...]:
    """The entries of a harmless file."""
    shapes: Any = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(network(), (torch.randn(4, 3),), dynamic_shapes=shapes)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, buffer)
    with zipfile.ZipFile(buffer) as archive:
        return tuple((name, archive.read(name)) for name in archive.namelist())


@cache
def old_parts() -> dict[str, bytes]:
    """The entries of the same network as torch 2.7 wrote them."""
    from torch._export.serde.serialize import serialize

    program = torch.export.export(network(), (torch.randn(4, 3),))
    parts = serialize(program)
    return {
        "version": b"8.8",
        "serialized_exported_program.json": parts.exported_program,
        "serialized_state_dict.pt": parts.state_dict,
        "serialized_constants.pt": parts.constants,
        "serialized_example_inputs.pt": parts.example_inputs,
    }


def write(path: Path, entries: Any, **options: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that occur twice
        with zipfile.ZipFile(path, "w", **options) as archive:
            for name, payload in entries:
                archive.writestr(name, payload)
    return path


def changed(change: Callable[[Entries], Entries | None], **options: Any) -> Attack:
    """A file of torch.export.save with its entries changed."""

    def attack(folder: Path) -> Path:
        entries = [(f"model/{name.split('/', 1)[1]}", payload) for name, payload in exported()]
        return write(folder / "model.pt2", change(entries) or entries, **options)

    return attack


def replaced(place: str, payload: bytes, *, name: str | None = None) -> Attack:
    def change(entries: Entries) -> Entries:
        other = [entry for entry in entries if entry[0] != f"model/{place}"]
        return [*other, (f"model/{name or place}", payload)]

    return changed(change)


def added(name: Any, payload: bytes = b"x", *, first: bool = False) -> Attack:
    added = [(name, payload)]
    return changed(lambda entries: added + entries if first else entries + added)


def old(**parts: bytes | None) -> Attack:
    """A file as torch up to 2.7 wrote it, with parts exchanged or left out; '__' is a dot."""

    def attack(folder: Path) -> Path:
        given = {name.replace("__", "."): payload for name, payload in parts.items()}
        entries = old_parts() | given
        return write(folder / "model.pt2", [(k, v) for k, v in entries.items() if v is not None])

    return attack


def configured(folder: str, *, duplicate: str = "", **fields: Any) -> Attack:
    """A list of tensors that asks for pickles, perhaps "before" or "after" the right one."""
    place = f"model/data/{folder}"
    config = f"{place}/model_{folder}_config.json"

    def change(entries: Entries) -> Entries:
        content = json.loads(dict(entries)[config])
        for meta in content["config"].values():
            meta.update(fields)
        names = {f"{place}/{meta['path_name']}" for meta in content["config"].values()}
        kept = [entry for entry in entries if entry[0] not in names]
        kept += [(name, evil() if "opaque" in name else saved(evil())) for name in names]
        listed = [(config, json.dumps(content).encode())]
        if not duplicate:
            return [entry for entry in kept if entry[0] != config] + listed
        return listed + kept if duplicate == "before" else kept + listed

    return changed(change)


def linked() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("model/extra/link")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    return info


def around(before: bytes = b"", after: bytes = b"") -> Attack:
    def attack(folder: Path) -> Path:
        path = changed(lambda entries: None)(folder)
        path.write_bytes(before + path.read_bytes() + after)
        return path

    return attack


def patched(old_bytes: bytes, new_bytes: bytes, count: int = -1) -> Attack:
    def attack(folder: Path) -> Path:
        path = changed(lambda entries: None)(folder)
        path.write_bytes(path.read_bytes().replace(old_bytes, new_bytes, count))
        return path

    return attack


def overlapping(folder: Path) -> Path:
    """Eleven entries that are all the same bytes of the file."""
    path = changed(lambda entries: [*entries, ("model/extra/a", b"\0" * 2**20)])(folder)
    content = path.read_bytes()
    end = content.rindex(b"PK\x05\x06")
    start = struct.unpack("<L", content[end + 16 : end + 20])[0]
    record = content[content.rindex(b"PK\x01\x02", 0, end) : end]
    copies = b"".join(record.replace(b"extra/a", b"extra/%d" % place) for place in range(10))
    count = content.count(b"PK\x01\x02", start, end) + 10
    directory = content[start:end] + copies
    tail = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, count, count, len(directory), start, 0)
    path.write_bytes(content[:start] + directory + tail)
    return path


HEADER = b"PK\x01\x02\x14\x03\x14\x00"
SAMPLE = "data/sample_inputs/model.pt"

ARCHIVES: dict[str, Attack] = {
    # The four ways that ran code in the first version.
    "renamed-entry": replaced(SAMPLE, saved(evil()), name=SAMPLE.replace(".pt", ".PT")),
    "old-state-dict-json": old(
        serialized_state_dict__pt=None, serialized_state_dict__json=saved(evil())
    ),
    "old-constants-json": old(
        serialized_constants__pt=None, serialized_constants__json=saved(evil())
    ),
    "duplicate-config-first": configured("weights", use_pickle=True, duplicate="before"),
    # Pickles in the other places that torch looks in.
    "duplicate-config-last": configured("weights", use_pickle=True, duplicate="after"),
    "sample-inputs": replaced(SAMPLE, saved(evil())),
    "sample-inputs-raw": replaced(SAMPLE, evil()),
    "pickled-weight": configured("weights", use_pickle=True),
    "pickled-constant": configured("constants", use_pickle=True),
    "custom-object": configured("constants", path_name="custom_obj_0"),
    "opaque-object": configured("constants", path_name="opaque_obj_0", use_pickle=True),
    "weights-as-one-pickle": replaced(
        "data/weights/model_weights_config.json", saved(evil()), name="data/weights/model.pt"
    ),
    "constants-as-one-pickle": added("model/data/constants/model.pt", saved(evil())),
    "weights-twice": added("model/data/weights/model.pt", saved(evil())),
    "weights-twice-in-capitals": added("model/data/weights/MODEL.pt", saved(evil())),
    "old-state-dict": old(serialized_state_dict__pt=saved(evil())),
    "old-constants": old(serialized_constants__pt=saved(evil())),
    "old-example-inputs": old(serialized_example_inputs__pt=saved(evil())),
    "old-state-dict-twice": old(serialized_state_dict__json=saved(evil())),
    "old-raw-pickle": old(serialized_state_dict__pt=evil()),
    # Names and entries.
    "config-in-capitals": added("model/data/weights/MODEL_weights_config.json", b"{}", first=True),
    "model-twice": added("model/models/model.json", b"{}"),
    "model-in-capitals": added("model/MODELS/model.json", b"{}"),
    "second-model": added("model/models/evil.json", b"{}"),
    "second-folder": added("other/archive_format", b"pt2", first=True),
    "folder-up": added(f"model/extra/../../../{CANARY}"),
    "folder-up-backslash": added(f"model\\..\\..\\{CANARY}"),
    "absolute": added(f"/tmp/{CANARY}"),
    "drive": added(f"C:/{CANARY}"),
    "dots-and-spaces": added("model/extra/.. /x"),
    "device-name": added("model/extra/\x1b[2Jclear"),
    "null-in-name": patched(b"model/archive_format", b"model/archive\x00format"),
    "symbolic-link": added(linked(), b"/etc/passwd"),
    "compiled-code": added("model/data/aotinductor/model/evil.so", b"\x7fELF"),
    "compiled-source": added("model/data/aotinductor/model/evil.cpp", b"int main() {}"),
    "nested-archive": replaced(SAMPLE, saved(b"}.", **{"nested.pt": saved(evil())})),
    "packed-bomb": changed(
        lambda entries: [*entries, ("model/extra/zeros", b"\0" * 2**26)],
        compression=zipfile.ZIP_DEFLATED,
    ),
    "overlapping-entries": overlapping,
    "encrypted": patched(HEADER + b"\x00\x00", HEADER + b"\x01\x00"),
    "other-archive-before": around(before=saved(evil())),
    "other-archive-behind": around(after=saved(evil())),
    "pickle-before": around(before=evil()),
    "shell-script-before": around(before=b"#!/bin/sh\ntouch canary\n"),
    "local-name-differs": patched(b"model/byteorder", b"model/byteordeR", 1),
    "cut-off": lambda folder: cut(changed(lambda entries: None)(folder)),
}


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-40])
    return path


def described(change: Callable[[Any], Any]) -> Attack:
    """A file of torch.export.save whose description was changed."""

    def change_entries(entries: Entries) -> Entries:
        content = json.loads(dict(entries)["model/models/model.json"])
        result = change(content)
        payload = result if isinstance(result, bytes) else json.dumps(content).encode()
        return list((dict(entries) | {"model/models/model.json": payload}).items())

    return changed(change_entries)


def size(expression: str) -> Attack:
    """A symbolic size; torch evaluates its text."""

    def change(content: Any) -> None:
        values = content["graph_module"]["graph"]["tensor_values"]
        values["x"]["sizes"][0] = {"as_expr": {"expr_str": expression, "hint": {"as_int": 4}}}

    return described(change)


def operator(target: str, *arguments: Any) -> Attack:
    """A network that calls something on its way."""

    def change(content: Any) -> None:
        node = content["graph_module"]["graph"]["nodes"][0]
        inputs = [{"name": name, "arg": argument, "kind": 1} for name, argument in arguments]
        node.update(target=target, inputs=inputs)

    return described(change)


def renamed(before: str, after: str) -> Attack:
    """A name that torch compiles into a function, everywhere in the description."""
    quoted = json.dumps(before).encode(), json.dumps(after).encode()
    return described(lambda content: json.dumps(content).encode().replace(*quoted))


def set_at(value: Any, *keys: Any) -> Attack:
    def change(content: Any) -> None:
        place = content
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return described(change)


def tree(kind: str, context: Any) -> Attack:
    leaf = {"type": None, "context": None, "children_spec": []}
    spec = json.dumps([1, {"type": kind, "context": context, "children_spec": [leaf]}])
    return set_at(spec, "graph_module", "module_call_graph", 0, "signature", "out_spec")


GRAPH = ("graph_module", "graph")
CALL = ("graph_module", "module_call_graph", 0)
PYTHON = f"__import__('builtins').{CODE}"
ENUM = json.dumps([{"__enum__": True, "fqn": "evil_module:Evil", "name": "X"}])
FACTORY = {
    "default_factory_module": "evil_module",
    "default_factory_name": "Evil",
    "dict_context": ["a"],
}

PROGRAMS: dict[str, Attack] = {
    "size-that-is-code": size(PYTHON),
    "size-open": size(f"open({CANARY!r}, 'w')"),
    "size-eval": size(f"eval({CODE!r})"),
    "size-assumption": size(f"Symbol('s77', positive={PYTHON})"),
    "size-symbol-name": size(f"Symbol({PYTHON}, integer=True)"),
    "size-argument": size(f"Add(Integer(1), {PYTHON})"),
    "size-attribute": size("Integer(1).__class__.__mro__"),
    "size-lambda": size(f"(lambda: {PYTHON})()"),
    "size-comprehension": size(f"[{PYTHON} for _ in (1,)][0]"),
    "size-text": size(f"sympify({PYTHON!r})"),
    "size-f-string": size("f'{" + PYTHON.replace("'", '"') + "}'"),
    "size-walrus": size(f"(a := {PYTHON})"),
    "size-power-bomb": size("Pow(Integer(9), Pow(Integer(9), Pow(Integer(9), Integer(9))))"),
    "size-shift-bomb": size("LShift(Integer(1), Integer(99999999999))"),
    "size-unicode": size("Symbol('s77') + \uff49\uff4d\uff50\uff4f\uff52\uff54"),
    "size-comment": size(f"Integer(4) #\n+ {PYTHON}"),
    "input-name": renamed("x", f"x={PYTHON}"),
    "input-name-newline": renamed("x", f"x):\n    {CODE}\n    return (1"),
    "node-name": renamed("mul", f"mul = {PYTHON}; mul"),
    "node-name-keyword": renamed("mul", "import"),
    "output-name": renamed("add", f"add); {PYTHON}; ("),
    "weight-name": renamed("first.weight", f'first.a"), {PYTHON.replace(chr(39), "")}, ("'),
    "weight-name-into-a-class": renamed("first.weight", "first.__class__.forward"),
    "weight-name-method": renamed("first.weight", "first.forward"),
    "constant-name": renamed("scale", '"), __import__("evil_module"), ("'),
    "submodule-name": renamed("submod_1", f"submod_1; {PYTHON}"),
    "layer-name": set_at(f'first"),{PYTHON},("', "graph_module", "module_call_graph", 0, "fqn"),
    "layer-name-into-a-class": set_at("__class__.__init__", *CALL, "fqn"),
    "argument-name": set_at([PYTHON], *CALL, "signature", "forward_arg_names"),
    "keyword-name": set_at(PYTHON, *GRAPH, "nodes", 0, "inputs", 0, "name"),
    "module-stack": set_at({"nn_module_stack": f'a,b"){PYTHON},c'}, *GRAPH, "nodes", 0, "metadata"),
    "source-stack": set_at("a,torch.os.system", *GRAPH, "nodes", 0, "metadata", "source_fn_stack"),
    "guards": set_at([PYTHON, f"eval({CODE!r})"], "guards_code"),
    "dialect": set_at(["evil_module"], "verifiers"),
    "tree-enum": tree("builtins.dict", ENUM),
    "tree-list-enum": tree("builtins.list", ENUM),
    "tree-factory": tree("collections.defaultdict", FACTORY),
    "tree-unknown-class": tree("evil_module.Evil", "null"),
    "call-os-system": operator("torch.os.system", ("command", {"as_string": f"touch {CANARY}"})),
    "call-sys-modules": operator("torch.serialization.os.mkdir", ("path", {"as_string": CANARY})),
    "call-hub": operator("torch.hub.load", ("repo", {"as_string": "x"})),
    "call-load": operator("torch.load", ("f", {"as_string": "nested.pt"})),
    "call-save": operator("torch.save", ("obj", {"as_int": 1}), ("f", {"as_string": CANARY})),
    "call-load-library": operator("torch.ops.load_library", ("path", {"as_string": "evil.so"})),
    "call-operator-call": operator("_operator.call", ("f", {"as_operator": "torch.os.system"})),
    "call-methodcaller": operator("_operator.methodcaller", ("name", {"as_string": "touch"})),
    "call-aten-save": operator(
        "torch.ops.aten.save.default",
        ("item", {"as_tensor": {"name": "x"}}),
        ("filename", {"as_string": CANARY}),
    ),
    "call-aten-from-file": operator(
        "torch.ops.aten.from_file.default",
        ("filename", {"as_string": CANARY}),
        ("shared", {"as_bool": True}),
        ("size", {"as_int": 12}),
    ),
    "call-custom": operator("torch.ops.evil.run.default", ("self", {"as_tensor": {"name": "x"}})),
    "call-extension": operator("#evil:run", ("self", {"as_tensor": {"name": "x"}})),
    "call-triton": operator("torch.ops.higher_order.triton_kernel_wrapper_functional"),
    "call-text": operator("builtins.exec", ("code", {"as_string": CODE})),
    "operator-as-argument": operator(
        "torch.ops.aten.mul.Tensor", ("self", {"as_operator": "torch.os.system"})
    ),
    "range-that-counts": set_at({"min_val": 0}, "range_constraints", "u999999999999"),
    "shape-without-bytes": set_at(None, "graph_module", "graph", "tensor_values"),
    "nested-a-million-times": described(lambda content: b"[" * 10**6),
    "number-of-a-million-digits": described(lambda content: b"[%s]" % (b"9" * 10**6)),
}


def tensor_meta(**fields: Any) -> Attack:
    """Weights whose list claims another shape than the bytes have."""

    def change(entries: Entries) -> Entries:
        name = "model/data/weights/model_weights_config.json"
        content = json.loads(dict(entries)[name])
        for meta in content["config"].values():
            meta["tensor_meta"].update(fields)
        return list((dict(entries) | {name: json.dumps(content).encode()}).items())

    return changed(change)


SHAPES: dict[str, Attack] = {
    "weight-of-a-terabyte": tensor_meta(sizes=[{"as_int": 2**40}], strides=[{"as_int": 0}]),
    "weight-beyond-its-bytes": tensor_meta(sizes=[{"as_int": 100}], strides=[{"as_int": 10**6}]),
    "weight-before-its-bytes": tensor_meta(storage_offset={"as_int": -8}),
    "weight-of-code": tensor_meta(sizes=[{"as_expr": {"expr_str": PYTHON, "hint": None}}]),
    "weight-of-unknown-type": tensor_meta(dtype=99),
}

ATTACKS: dict[str, Attack] = (
    {f"archive: {name}": attack for name, attack in ARCHIVES.items()}
    | {f"program: {name}": attack for name, attack in PROGRAMS.items()}
    | {f"weights: {name}": attack for name, attack in SHAPES.items()}
)

LEFT_OUT = ("program: source-stack", "program: guards")
"""Attacks whose files open: what is evil in them is never passed on."""


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in LEFT_OUT])
def test_an_attack_neither_runs_nor_writes(name: str, quarantine: Path, harmless: Harmless) -> None:
    path = ATTACKS[name](quarantine)

    with harmless():
        # The checks alone refuse it: the inspection never hands a file to torch.
        assert inspect_file(path).refusal
        with pytest.raises(ModelFileError) as caught:
            load_model(path)

    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_would_run_is_left_out(name: str, quarantine: Path, harmless: Harmless) -> None:
    path = ATTACKS[name](quarantine)

    with harmless():
        list_layers(load_model(path), np.zeros((4, 3), dtype=np.float32))


FIRST_FOUR = [
    "archive: renamed-entry",
    "archive: old-state-dict-json",
    "archive: old-constants-json",
    "archive: duplicate-config-first",
]


@pytest.mark.parametrize("command", ["layers", "doctor"])
@pytest.mark.parametrize("name", FIRST_FOUR)
def test_commands_refuse_what_ran_code_once(
    name: str, command: str, quarantine: Path, harmless: Harmless
) -> None:
    path = ATTACKS[name](quarantine)

    with harmless():
        result = CliRunner().invoke(app, [command, str(path)])

    assert result.exit_code == 1
    assert isinstance(result.exception, ModelFileError) or "refuses it" in result.output


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 40


REAL = [
    *FIRST_FOUR,
    "archive: sample-inputs",
    "archive: pickled-weight",
    "archive: pickled-constant",
    "archive: opaque-object",
    "archive: weights-as-one-pickle",
    "archive: constants-as-one-pickle",
    "archive: weights-twice",
    "archive: old-state-dict",
    "archive: old-constants",
    "archive: old-example-inputs",
    "program: size-that-is-code",
    "program: size-assumption",
    "program: size-text",
    "program: input-name",
    "program: tree-enum",
    "program: tree-factory",
    "program: call-aten-from-file",
]


@pytest.mark.parametrize("name", REAL)
def test_what_is_claimed_to_be_an_attack_is_one(name: str, quarantine: Path) -> None:
    path = ATTACKS[name](quarantine)

    # Without enable_grad, a network that fails in a block without gradients would leave them off.
    with contextlib.suppress(Exception), torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model: Any = torch.export.unflatten(torch.export.load(path))
        model(torch.zeros(4, 3))

    assert (quarantine / CANARY).exists()


def test_the_harmless_file_opens(quarantine: Path) -> None:
    path = changed(lambda entries: None)(quarantine)

    assert [layer.name for layer in list_layers(load_model(path))] == ["first", "submod_1"]
    assert not inspect_file(path).refusal


def test_a_network_that_torch_cannot_lay_out_is_refused_with_a_reason(quarantine: Path) -> None:
    path = set_at({}, *GRAPH, "nodes", 0, "metadata")(quarantine)

    with pytest.raises(ModelFileError, match="cannot build"):
        load_model(path)


def test_files_of_torch_2_7_open(quarantine: Path, caplog: pytest.LogCaptureFixture) -> None:
    inputs = torch.randn(4, 3)

    loaded = load_model(old()(quarantine))

    assert loaded.fixed_batch == 4
    assert isinstance(loaded.model.first.weight, nn.Parameter)
    torch.testing.assert_close(loaded.model(inputs), network()(inputs))
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
