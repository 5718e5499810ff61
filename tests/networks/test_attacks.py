"""Attacks on model files: each would run code or write a file; none does, in any command that opens files.

An attack is a function that writes a file in a folder and returns its path. What it would run creates the file `canary`.
`test_what_is_claimed_to_be_an_attack_is_one` shows, for those that torch itself falls for, that they are real.
"""

import contextlib
import io
import json
import os
import pickle
import struct
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from closedform.networks.errors import ModelFileError
from closedform.networks.layer_list import list_layers
from closedform.networks.model_files import load_inputs, load_model
from closedform.networks.untrusted.inspection import inspect_file

Attack = Callable[[Path], Path]
Entries = list[tuple[str, bytes]]

CANARY = "canary"
CODE = f"open({CANARY!r}, 'w').close()"
BUILDER = "from torch import nn\n\ndef make():\n    return nn.Sequential(nn.Linear(3, 2))\n"
EVIL_MODULE = f"{CODE}\nimport enum\nclass Evil(enum.Enum):\n    X = 1\n"


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 2)
        self.register_buffer("scale", torch.ones(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            shift = x * 2
        return self.first(x * self.scale) + shift[:, :2]


@cache
def exported() -> tuple[tuple[str, bytes], ...]:
    """The entries of a harmless file."""
    shapes: Any = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(Network().eval(), (torch.randn(4, 3),), dynamic_shapes=shapes)
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

    program = torch.export.export(Network().eval(), (torch.randn(4, 3),))
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


# --- Pickles -----------------------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def call(module: str, name: str, *arguments: Any) -> bytes:
    """A pickle that calls a function."""
    packed = b"".join(pickle.dumps(argument, 2)[2:-1] for argument in arguments)
    return b"\x80\x02" + f"c{module}\n{name}\n".encode() + b"(" + packed + b"tR."


def evil() -> bytes:
    return call("builtins", "exec", CODE)


def saved(payload: bytes, **others: bytes) -> bytes:
    """The archive that torch.save would write around a pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in {"data.pkl": payload, "version": b"3\n", "byteorder": b"little", **others}.items():
            archive.writestr(f"archive/{name}", content)
    return buffer.getvalue()


# From the lists of picklescan and fickling, and from reports of what they missed.
PUBLISHED: list[tuple[str, str, tuple[Any, ...]]] = [
    ("builtins", "exec", (CODE,)),
    ("builtins", "eval", (f"open({CANARY!r}, 'w')",)),
    ("__builtin__", "eval", (f"open({CANARY!r}, 'w')",)),
    ("builtins", "compile", (CODE, "x", "exec")),
    ("builtins", "__import__", ("evil_module",)),
    ("builtins", "open", (CANARY, "w")),
    ("builtins", "getattr", ("x", "y")),
    ("io", "open", (CANARY, "w")),
    ("os", "system", (f"touch {CANARY}",)),
    ("posix", "system", (f"touch {CANARY}",)),
    ("os", "popen", (f"touch {CANARY}",)),
    ("os", "open", (CANARY, os.O_CREAT | os.O_WRONLY)),
    ("os", "mkdir", (CANARY,)),
    ("subprocess", "check_output", (["touch", CANARY],)),
    ("subprocess", "Popen", (["touch", CANARY],)),
    ("pty", "spawn", (["touch", CANARY],)),
    ("_posixsubprocess", "fork_exec", ()),
    ("multiprocessing.util", "spawnv_passfds", ()),
    ("asyncio.unix_events", "_UnixSubprocessTransport._start", ()),
    ("importlib", "import_module", ("evil_module",)),
    ("pkgutil", "resolve_name", ("evil_module:Evil",)),
    ("pydoc", "locate", ("evil_module.Evil",)),
    ("pydoc", "pipepager", ("x", f"touch {CANARY}")),
    ("runpy", "run_path", ("evil_module.py",)),
    ("runpy", "_run_code", (CODE, {})),
    ("zipimport", "zipimporter", ("x.zip",)),
    ("code", "InteractiveInterpreter", ()),
    ("bdb", "Bdb", ()),
    ("pdb", "run", (CODE,)),
    ("timeit", "timeit", (CODE,)),
    ("cProfile", "run", (CODE,)),
    ("profile", "run", (CODE,)),
    ("trace", "Trace", ()),
    ("doctest", "debug_script", (CODE,)),
    ("ensurepip", "_run_pip", ([],)),
    ("venv", "create", (CANARY,)),
    ("ctypes", "CDLL", ("libc.so.6",)),
    ("functools", "partial", (print,)),
    ("functools", "reduce", (print, [])),
    ("operator", "attrgetter", ("system",)),
    ("operator", "methodcaller", ("touch",)),
    ("pickle", "loads", (evil(),)),
    ("_pickle", "loads", (evil(),)),
    ("marshal", "loads", (b"",)),
    ("shelve", "open", (CANARY,)),
    ("shutil", "copyfile", ("evil_module.py", CANARY)),
    ("pathlib", "Path.touch", ()),
    ("webbrowser", "open", ("https://example.org",)),
    ("urllib.request", "urlopen", ("file:///etc/hostname",)),
    ("socket", "create_connection", (("localhost", 1),)),
    ("logging.config", "fileConfig", ("x",)),
    ("logging", "FileHandler", (CANARY,)),
    ("types", "FunctionType", ()),
    ("types", "CodeType", ()),
    ("numpy.f2py.crackfortran", "getlincoef", (CODE, {})),
    ("numpy.f2py.crackfortran", "param_eval", (CODE, {}, {})),
    ("numpy.testing._private.utils", "runstring", (CODE, {})),
    ("numpy", "load", ("x.npy",)),
    ("numpy", "savetxt", (CANARY, [1.0])),
    ("torch", "load", ("nested.pt",)),
    ("torch", "save", ([], CANARY)),
    ("torch.serialization", "load", ("nested.pt",)),
    ("torch.storage", "_load_from_bytes", (evil(),)),
    ("torch.hub", "load", ("x", "y")),
    ("torch.jit.unsupported_tensor_ops", "execWrapper", (CODE, {}, {})),
    ("torch.utils._config_module", "ConfigModule.load_config", (evil(),)),
    ("torch._dynamo.guards", "GuardBuilder.get", (CODE,)),
    ("torch.fx.experimental.symbolic_shapes", "ShapeEnv.evaluate_guards_expression", (CODE,)),
    ("torch.utils.collect_env", "run", (f"touch {CANARY}",)),
    ("torch.utils.bottleneck.__main__", "run_cprofile", (CODE, {})),
    ("torch.utils.cpp_extension", "load_inline", ()),
    ("torch._inductor.codecache", "compile_file", ()),
    ("torch.ops", "load_library", ("evil.so",)),
    ("torch._C", "_pickle_load_obj", (b"",)),
    ("torch.nn.modules.linear", "Linear", (3, 2)),
    ("pandas.io.common", "get_handle", (CANARY, "w")),
    ("sympy.core.sympify", "sympify", (CODE,)),
    ("cloudpickle.cloudpickle", "_make_function", ()),
    ("joblib", "load", ("nested.pt",)),
]


def published(module: str, name: str, arguments: tuple[Any, ...]) -> Attack:
    def attack(folder: Path) -> Path:
        (folder / "model.pt").write_bytes(saved(call(module, name, *arguments)))
        return folder / "model.pt"

    return attack


# The same call, spelled with every other operation that can call.
SPELLINGS: dict[str, bytes] = {
    "protocol-0": b"cbuiltins\nexec\n(S" + repr(CODE).encode() + b"\ntR.",
    "instance": b"(S" + repr(CODE).encode() + b"\nibuiltins\nexec\n.",
    "object": b"(cbuiltins\nexec\nS" + repr(CODE).encode() + b"\no.",
    "stack-global": b"\x80\x04" + text("builtins") + text("exec") + b"\x93(" + text(CODE) + b"tR.",
    "stack-global-from-memo": b"\x80\x04" + text("builtins") + b"q\x00" + text("exec") + b"q\x01000"[:3]
    + b"0h\x00h\x01\x93(" + text(CODE) + b"tR.",
    "new-object": b"\x80\x02cbuiltins\nexec\n(" + text(CODE) + b"t\x81.",
    "new-object-ex": b"\x80\x04cbuiltins\nexec\n(" + text(CODE) + b"t}\x92.",
    "broken-after-the-call": evil()[:-1] + b"\xff\xff\xff",
    "no-stop": evil()[:-1],
    "popped-result": evil()[:-1] + b"0}.",
    "two-pickles": b"\x80\x02}." + evil(),
    "extension": b"\x80\x02\x82\x01(" + text(CODE) + b"tR.",
    "build": b"\x80\x02ccollections\nOrderedDict\n)R(}" + text("__setstate__") + evil()[2:-1] + b"st0b.",
    "hidden-in-an-argument": call("collections", "OrderedDict")[:-3] + b"(" + evil()[2:-1] + b"ltR.",
    "name-with-newline": b"\x80\x04" + text("builtins\n") + text("exec") + b"\x93(" + text(CODE) + b"tR.",
    "dotted-name": b"\x80\x04" + text("torch") + text("serialization.os.system") + b"\x93("
    + text(f"touch {CANARY}") + b"tR.",
    "persistent": b"\x80\x02(" + text("storage") + evil()[2:-1] + text("0") + text("cpu") + b"K\x01tQ.",
    "deep": b"\x80\x02" + b"(" * 50_000 + b"t" * 50_000 + b".",
    "deep-key": b"\x80\x02}" + b"(" * 50_000 + b"t" * 50_000 + b"K\x01s.",
}  # fmt: skip


def spelled(payload: bytes) -> Attack:
    def attack(folder: Path) -> Path:
        (folder / "model.pt").write_bytes(saved(payload))
        return folder / "model.pt"

    return attack


def as_bytes(name: str, make: Callable[[], bytes]) -> Attack:
    def attack(folder: Path) -> Path:
        (folder / name).write_bytes(make())
        return folder / name

    return attack


def legacy() -> bytes:
    """As torch before 1.6 wrote it."""
    parts = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    return b"".join(pickle.dumps(part, 2) for part in parts) + evil() + pickle.dumps([], 2)


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("pickle", "storages", "tensors", "../../canary"):
            info = tarfile.TarInfo(name)
            info.size = len(evil())
            archive.addfile(info, io.BytesIO(evil()))
    return buffer.getvalue()


def with_entry(name: str, payload: bytes, *, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO(saved(pickle.dumps({}, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(buffer, "a", compression) as archive:
            archive.writestr(name, payload)
    return buffer.getvalue()


def out_of_bounds() -> bytes:
    """A tensor that reaches far beyond its bytes."""
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x01tQ"
    rebuilt = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00J\x00\x00\x00\x10\x85K\x01\x85\x89"
    return saved(b"\x80\x02}" + text("0.weight") + rebuilt + b"ccollections\nOrderedDict\n)RtRs.", **{"data/0": b"\0" * 4})


FILES: dict[str, Attack] = {
    "raw-pickle.pt": as_bytes("model.pt", evil),
    "raw-pickle.bin": as_bytes("model.bin", evil),
    "raw-pickle.ckpt": as_bytes("model.ckpt", evil),
    "raw-pickle.PTH": as_bytes("model.PTH", evil),
    "raw-pickle.safetensors": as_bytes("model.safetensors", evil),
    "raw-pickle.pt2": as_bytes("model.pt2", evil),
    "saved-pickle.pt2": as_bytes("model.pt2", lambda: saved(evil())),
    "legacy-format": as_bytes("model.pt", legacy),
    "tar-format": as_bytes("model.pt", tar),
    "seven-zip": as_bytes("model.pt", lambda: b"7z\xbc\xaf\x27\x1c" + evil()),
    "torchscript": as_bytes("model.pt", lambda: with_entry("archive/constants.pkl", evil())),
    "data-pkl-twice": as_bytes("model.pt", lambda: with_entry("archive/data.pkl", evil())),
    "data-pkl-in-capitals": as_bytes("model.pt", lambda: with_entry("archive/DATA.PKL", evil())),
    "second-folder": as_bytes("model.pt", lambda: with_entry("other/data.pkl", evil())),
    "packed-bomb.pt": as_bytes(
        "model.pt", lambda: with_entry("archive/data/0", b"\0" * 2**26, compression=zipfile.ZIP_DEFLATED)
    ),
    "link-out.pt": as_bytes("model.pt", lambda: with_entry(f"archive/../../{CANARY}", b"x")),
    "tensor-out-of-bounds": as_bytes("model.pt", out_of_bounds),
    "header-of-a-terabyte.safetensors": as_bytes("model.safetensors", lambda: struct.pack("<Q", 2**40) + b"{}"),
}


# --- Archives of torch.export ------------------------------------------------------------------------------------------


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
    return changed(lambda entries: [(name, payload), *entries] if first else [*entries, (name, payload)])


def old(**parts: bytes | None) -> Attack:
    """A file as torch up to 2.7 wrote it, with parts exchanged or left out; '__' stands for a dot."""

    def attack(folder: Path) -> Path:
        entries = old_parts() | {name.replace("__", "."): payload for name, payload in parts.items()}
        return write(folder / "model.pt2", [(k, v) for k, v in entries.items() if v is not None])

    return attack


def configured(folder: str, config: str, fields: dict[str, Any], *, first: bool | None = None) -> Attack:
    """An entry in the list of tensors that asks for a pickle; in a duplicate of the list if `first` is not None."""

    def change(entries: Entries) -> Entries:
        content = json.loads(dict(entries)[f"model/data/{folder}/{config}"])
        for meta in content["config"].values():
            meta.update(fields)
        stored = {meta["path_name"] for meta in content["config"].values()}
        listed = (f"model/data/{folder}/{config}", json.dumps(content).encode())
        kept = [e for e in entries if e[0].rsplit("/", 1)[1] not in stored]
        kept += [(f"model/data/{folder}/{name}", saved(evil()) if "opaque" not in name else evil()) for name in stored]
        if first is None:
            return [*(entry for entry in kept if entry[0] != listed[0]), listed]
        return [listed, *kept] if first else [*kept, listed]

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
    """Ten thousand entries that are all the same bytes of the file."""
    path = changed(lambda entries: [*entries, ("model/extra/a", b"\0" * 2**20)])(folder)
    content = path.read_bytes()
    end = content.rindex(b"PK\x05\x06")
    start = struct.unpack("<L", content[end + 16 : end + 20])[0]
    record = content[content.rindex(b"PK\x01\x02", 0, end) : end]
    copies = b"".join(record.replace(b"extra/a", b"extra/%d" % i) for i in range(10_000) if i < 10)
    count = content.count(b"PK\x01\x02", start, end) + 10
    directory = content[start:end] + copies
    tail = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, count, count, len(directory), start, 0)
    path.write_bytes(content[:start] + directory + tail)
    return path


ARCHIVES: dict[str, Attack] = {
    # The four ways that ran code in the first version.
    "renamed-entry": replaced("data/sample_inputs/model.pt", saved(evil()), name="data/sample_inputs/model.PT"),
    "old-state-dict-json": old(serialized_state_dict__pt=None, serialized_state_dict__json=saved(evil())),
    "old-constants-json": old(serialized_constants__pt=None, serialized_constants__json=saved(evil())),
    "duplicate-config-first": configured("weights", "model_weights_config.json", {"use_pickle": True}, first=True),
    # Pickles in the other places that torch looks in.
    "duplicate-config-last": configured("weights", "model_weights_config.json", {"use_pickle": True}, first=False),
    "sample-inputs": replaced("data/sample_inputs/model.pt", saved(evil())),
    "sample-inputs-raw": replaced("data/sample_inputs/model.pt", evil()),
    "pickled-weight": configured("weights", "model_weights_config.json", {"use_pickle": True}),
    "pickled-constant": configured("constants", "model_constants_config.json", {"use_pickle": True}),
    "custom-object": configured("constants", "model_constants_config.json", {"path_name": "custom_obj_0"}),
    "opaque-object": configured(
        "constants", "model_constants_config.json", {"path_name": "opaque_obj_0", "use_pickle": True}
    ),
    "weights-as-one-pickle": replaced("data/weights/model_weights_config.json", saved(evil()), name="data/weights/model.pt"),
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
    "nested-archive": replaced("data/sample_inputs/model.pt", saved(b"}.", **{"nested.pt": saved(evil())})),
    "packed-bomb": changed(
        lambda entries: [*entries, ("model/extra/zeros", b"\0" * 2**26)], compression=zipfile.ZIP_DEFLATED
    ),
    "overlapping-entries": overlapping,
    "encrypted": patched(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"),
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


# --- The description of an exported network ----------------------------------------------------------------------------


def described(change: Callable[[Any], Any]) -> Attack:
    """A file of torch.export.save whose description was changed."""

    def change_entries(entries: Entries) -> Entries:
        content = json.loads(dict(entries)["model/models/model.json"])
        result = change(content)
        payload = result if isinstance(result, bytes) else json.dumps(content).encode()
        return [(name, payload if name == "model/models/model.json" else old) for name, old in entries]

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
PYTHON = f"__import__('builtins').{CODE}"
ENUM = json.dumps([{"__enum__": True, "fqn": "evil_module:Evil", "name": "X"}])
FACTORY = {"default_factory_module": "evil_module", "default_factory_name": "Evil", "dict_context": ["a"]}

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
    "layer-name-into-a-class": set_at("__class__.__init__", "graph_module", "module_call_graph", 0, "fqn"),
    "argument-name": set_at([PYTHON], "graph_module", "module_call_graph", 0, "signature", "forward_arg_names"),
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
    "call-hub": operator("torch.hub.load", ("repo", {"as_string": "x"}), ("model", {"as_string": "y"})),
    "call-load": operator("torch.load", ("f", {"as_string": "nested.pt"})),
    "call-save": operator("torch.save", ("obj", {"as_int": 1}), ("f", {"as_string": CANARY})),
    "call-load-library": operator("torch.ops.load_library", ("path", {"as_string": "evil.so"})),
    "call-operator-call": operator("_operator.call", ("f", {"as_operator": "torch.os.system"})),
    "call-methodcaller": operator("_operator.methodcaller", ("name", {"as_string": "touch"})),
    "call-aten-save": operator(
        "torch.ops.aten.save.default", ("item", {"as_tensor": {"name": "x"}}), ("filename", {"as_string": CANARY})
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
    "operator-as-argument": operator("torch.ops.aten.mul.Tensor", ("self", {"as_operator": "torch.os.system"})),
    "range-that-counts": set_at({"u999999999999": {"min_val": 0, "max_val": 4}}, "range_constraints"),
    "shape-without-bytes": set_at(None, "graph_module", "graph", "tensor_values"),
    "nested-a-million-times": described(lambda content: b"[" * 10**6),
    "number-of-a-million-digits": described(lambda content: b'{"graph_module": ' + b"9" * 10**6 + b"}"),
}


def tensor_meta(**fields: Any) -> Attack:
    """Weights whose list claims another shape than the bytes have."""

    def change(entries: Entries) -> Entries:
        name = "model/data/weights/model_weights_config.json"
        content = json.loads(dict(entries)[name])
        for meta in content["config"].values():
            meta["tensor_meta"].update(fields)
        return [(entry, json.dumps(content).encode() if entry == name else old) for entry, old in entries]

    return changed(change)


SHAPES: dict[str, Attack] = {
    "weight-of-a-terabyte": tensor_meta(sizes=[{"as_int": 2**40}], strides=[{"as_int": 0}]),
    "weight-beyond-its-bytes": tensor_meta(sizes=[{"as_int": 100}], strides=[{"as_int": 10**6}]),
    "weight-before-its-bytes": tensor_meta(storage_offset={"as_int": -8}),
    "weight-of-code": tensor_meta(sizes=[{"as_expr": {"expr_str": PYTHON, "hint": None}}]),
    "weight-of-unknown-type": tensor_meta(dtype=99),
}

ATTACKS: dict[str, Attack] = (
    {f"pickle: {m}.{n}": published(m, n, a) for m, n, a in PUBLISHED}
    | {f"spelling: {name}": spelled(payload) for name, payload in SPELLINGS.items()}
    | {f"file: {name}": attack for name, attack in FILES.items()}
    | {f"archive: {name}": attack for name, attack in ARCHIVES.items()}
    | {f"program: {name}": attack for name, attack in PROGRAMS.items()}
    | {f"weights: {name}": attack for name, attack in SHAPES.items()}
)

HARMLESS = {
    # What would be evaluated is left out, and the rest is the network.
    "program: source-stack",
    "program: guards",
}
"""Attacks whose files open, because what is evil in them is never passed on."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder deep in an empty one, so that what is written above it shows too."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "evil_module.py").write_text(EVIL_MODULE)
    (inside / "attack_builder.py").write_text(BUILDER)
    (inside / "nested.pt").write_bytes(saved(evil()))
    monkeypatch.chdir(inside)
    monkeypatch.syspath_prepend(str(inside))
    yield inside
    for name in ("evil_module", "attack_builder"):
        sys.modules.pop(name, None)


def files_in(folder: Path) -> set[str]:
    found = {str(path) for path in folder.rglob("*") if "__pycache__" not in path.parts}
    return found | {name for name in (f"/tmp/{CANARY}", f"/{CANARY}") if os.path.exists(name)}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_neither_runs_nor_writes(name: str, folder: Path, tmp_path: Path) -> None:
    path = ATTACKS[name](folder)
    before = files_in(tmp_path)
    builder = None if path.suffix == ".pt2" else "attack_builder:make"

    seen = inspect_file(path)
    if name in HARMLESS:
        list_layers(load_model(path), np.zeros((4, 3), dtype=np.float32))
    else:
        with pytest.raises(ModelFileError) as caught:
            load_model(path, builder=builder)
        assert len(str(caught.value)) < 2000
        assert seen.refusal

    assert files_in(tmp_path) == before
    assert "evil_module" not in sys.modules


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 40
    assert len(PUBLISHED) >= 40


REAL = [
    "archive: renamed-entry",
    "archive: old-state-dict-json",
    "archive: old-constants-json",
    "archive: duplicate-config-first",
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
    "pickle: builtins.exec",
    "pickle: os.system",
    "pickle: builtins.__import__",
    "pickle: runpy.run_path",
    "pickle: torch.storage._load_from_bytes",
    "pickle: torch.utils.collect_env.run",
    "pickle: numpy.testing._private.utils.runstring",
    "spelling: instance",
    "spelling: object",
    "spelling: stack-global",
    "spelling: broken-after-the-call",
    "spelling: popped-result",
    "file: raw-pickle.pt",
    "file: legacy-format",
    "file: raw-pickle.PTH",
]


@pytest.mark.parametrize("name", REAL)
def test_what_is_claimed_to_be_an_attack_is_one(name: str, folder: Path, tmp_path: Path) -> None:
    path = ATTACKS[name](folder)

    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix == ".pt2":
            program = torch.export.load(path)
            model: Any = torch.export.unflatten(program)
            model(torch.zeros(4, 3))
        else:
            torch.load(path, weights_only=False)

    assert (folder / CANARY).exists()


@pytest.mark.parametrize("suffix", [".pt2", ".pt"])
def test_the_harmless_file_opens(suffix: str, folder: Path) -> None:
    if suffix == ".pt2":
        path = changed(lambda entries: None)(folder)
        assert [layer.name for layer in list_layers(load_model(path))] == ["first", "submod_1"]
    else:
        path = folder / "model.pt"
        torch.save(nn.Sequential(nn.Linear(3, 2)).state_dict(), path)
        assert load_model(path, builder="attack_builder:make").model is not None
    assert not inspect_file(path).refusal


def test_a_network_that_torch_cannot_lay_out_is_refused_with_a_reason(folder: Path) -> None:
    path = set_at({}, *GRAPH, "nodes", 0, "metadata")(folder)

    with pytest.raises(ModelFileError, match="cannot lay out"):
        load_model(path)


def test_files_of_older_layouts_open(folder: Path) -> None:
    expected = dict(exported())
    weights = np.frombuffer(expected["archive/data/weights/weight_0"], dtype=np.float32)

    loaded = load_model(old()(folder))

    assert loaded.fixed_batch == 4
    assert loaded.model.first.weight.shape == (2, 3)
    assert isinstance(loaded.model.first.weight, nn.Parameter)
    assert weights.shape == (6,)


# --- Data files --------------------------------------------------------------------------------------------------------


def object_array(folder: Path) -> Path:
    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, (CODE,))

    np.savez(folder / "data.npz", inputs=np.array([[Bomb()]], dtype=object))
    return folder / "data.npz"


def npy(header: str, payload: bytes) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + payload


DATA: dict[str, Attack] = {
    "object-array": object_array,
    "raw-pickle": as_bytes("data.npz", evil),
    "pickle-as-entry": lambda folder: write(folder / "data.npz", [("inputs.npy", evil())]),
    "zeros-bomb": lambda folder: write(
        folder / "data.npz",
        [("inputs.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (5000000, 1)}", b"\0" * 40_000_000))],
        compression=zipfile.ZIP_DEFLATED,
    ),
    "claims-a-petabyte": lambda folder: write(
        folder / "data.npz", [("inputs.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2**47, 1)}", b""))]
    ),
    "claims-a-petabyte-as-a-number": lambda folder: write(
        folder / "data.npz",
        [("inputs.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (140737488355328, 1)}", b""))],
    ),
    "header-that-is-code": lambda folder: write(folder / "data.npz", [("inputs.npy", npy(PYTHON, b""))]),
    "array-twice": lambda folder: write(folder / "data.npz", [("inputs.npy", evil()), ("inputs.npy", evil())]),
    "cut-off": lambda folder: cut(write(folder / "data.npz", [("inputs.npy", npy("{}", b"\0" * 100))])),
}


@pytest.mark.parametrize("name", DATA)
def test_an_attack_in_a_data_file_neither_runs_nor_writes(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("closedform.networks.model_files.FREE_EXPANSION", 2**20)
    path = DATA[name](folder)
    before = files_in(tmp_path)

    seen = inspect_file(path)
    with pytest.raises(ModelFileError):
        load_inputs(path)

    assert seen.size > 0
    assert files_in(tmp_path) == before
