"""Attacks with pickles and data files: each would run code or write a file, and none does.

An attack writes a file in a folder. What it would run creates the file `canary`. The second test
shows, for those that torch falls for without `weights_only`, that they are real.
"""

import contextlib
import io
import os
import pickle
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from closedform.errors import DamagedFileError
from closedform.networks.errors import ModelFileError
from closedform.networks.model_files import load_inputs, load_model
from closedform.networks.untrusted.inspection import inspect_file

Attack = Callable[[Path], Path]
Harmless = Callable[[], AbstractContextManager[None]]

CANARY = "canary"
CODE = f"open({CANARY!r}, 'w').close()"
BUILDER = "attack_builder:make"


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
    parts = {"data.pkl": payload, "version": b"3\n", "byteorder": b"little", **others}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"archive/{name}", content)
    return buffer.getvalue()


def as_bytes(name: str, make: Callable[[], bytes]) -> Attack:
    def attack(folder: Path) -> Path:
        (folder / name).write_bytes(make())
        return folder / name

    return attack


def spelled(payload: bytes) -> Attack:
    return as_bytes("model.pt", lambda: saved(payload))


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


# The same call, spelled with every other operation that can call.
CODE_TEXT, EXEC = text(CODE), text("builtins") + text("exec") + b"\x93"
INNER = evil()[2:-1]
SPELLINGS: dict[str, bytes] = {
    "protocol-0": b"cbuiltins\nexec\n(S" + repr(CODE).encode() + b"\ntR.",
    "instance": b"(S" + repr(CODE).encode() + b"\nibuiltins\nexec\n.",
    "object": b"(cbuiltins\nexec\nS" + repr(CODE).encode() + b"\no.",
    "stack-global": b"\x80\x04" + EXEC + b"(" + CODE_TEXT + b"tR.",
    "stack-global-from-memo": (
        b"\x80\x04" + text("builtins") + b"q\x000" + text("exec") + b"q\x010"
        b"h\x00h\x01\x93(" + CODE_TEXT + b"tR."
    ),
    "new-object": b"\x80\x02cbuiltins\nexec\n(" + CODE_TEXT + b"t\x81.",
    "new-object-ex": b"\x80\x04cbuiltins\nexec\n(" + CODE_TEXT + b"t}\x92.",
    "broken-after-the-call": evil()[:-1] + b"\xff\xff\xff",
    "no-stop": evil()[:-1],
    "popped-result": evil()[:-1] + b"0}.",
    "two-pickles": b"\x80\x02}." + evil(),
    "extension": b"\x80\x02\x82\x01(" + CODE_TEXT + b"tR.",
    "build": b"\x80\x02ccollections\nOrderedDict\n)R}" + text("__setstate__") + INNER + b"sb.",
    "hidden-in-an-argument": b"\x80\x02ccollections\nOrderedDict\n((" + INNER + b"ltR.",
    "name-with-newline": b"\x80\x04" + text("builtins\n") + text("exec") + b"\x93)R.",
    "dotted-name": (
        b"\x80\x04" + text("torch") + text("serialization.os.system") + b"\x93("
        + text(f"touch {CANARY}") + b"tR."
    ),
    "persistent": b"\x80\x02(" + text("storage") + INNER + text("0") + text("cpu") + b"K\x01tQ.",
    "deep": b"\x80\x02" + b"(" * 50_000 + b"t" * 50_000 + b".",
    "deep-key": b"\x80\x02}" + b"(" * 50_000 + b"t" * 50_000 + b"K\x01s.",
}  # fmt: skip


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
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0")
    storage += text("cpu") + b"K\x01tQ"
    rebuilt = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage
    rebuilt += b"K\x00J\x00\x00\x00\x10\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR"
    return saved(b"\x80\x02}" + text("0.weight") + rebuilt + b"s.", **{"data/0": b"\0" * 4})


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
        "model.pt",
        lambda: with_entry("archive/data/0", b"\0" * 2**26, compression=zipfile.ZIP_DEFLATED),
    ),
    "link-out.pt": as_bytes("model.pt", lambda: with_entry(f"archive/../../{CANARY}", b"x")),
    "tensor-out-of-bounds": as_bytes("model.pt", out_of_bounds),
    "header-of-a-terabyte": as_bytes("model.safetensors", lambda: struct.pack("<Q", 2**40) + b"{}"),
}

ATTACKS: dict[str, Attack] = (
    {f"{module}.{name}": spelled(call(module, name, *given)) for module, name, given in PUBLISHED}
    | {f"spelling: {name}": spelled(payload) for name, payload in SPELLINGS.items()}
    | {f"file: {name}": attack for name, attack in FILES.items()}
)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_neither_runs_nor_writes(name: str, quarantine: Path, harmless: Harmless) -> None:
    path = ATTACKS[name](quarantine)

    with harmless():
        assert inspect_file(path).refusal
        with pytest.raises(ModelFileError) as caught:
            load_model(path, builder=BUILDER)

    assert len(str(caught.value)) < 1000


def test_there_are_enough_attacks() -> None:
    assert len(PUBLISHED) >= 40
    assert len(SPELLINGS) + len(FILES) >= 30


REAL = [
    "builtins.exec",
    "os.system",
    "builtins.__import__",
    "runpy.run_path",
    "torch.storage._load_from_bytes",
    "torch.utils.collect_env.run",
    "numpy.testing._private.utils.runstring",
    "spelling: instance",
    "spelling: object",
    "spelling: stack-global",
    "spelling: stack-global-from-memo",
    "spelling: broken-after-the-call",
    "spelling: popped-result",
    "file: raw-pickle.pt",
    "file: legacy-format",
    "file: raw-pickle.PTH",
]


@pytest.mark.parametrize("name", REAL)
def test_what_is_claimed_to_be_an_attack_is_one(name: str, quarantine: Path) -> None:
    path = ATTACKS[name](quarantine)

    with contextlib.suppress(Exception):
        torch.load(path, weights_only=False)

    assert (quarantine / CANARY).exists()


def test_a_harmless_state_dict_opens(quarantine: Path) -> None:
    torch.save(nn.Sequential(nn.Linear(3, 2)).state_dict(), quarantine / "model.pt")

    assert load_model(quarantine / "model.pt", builder=BUILDER).model is not None
    assert not inspect_file(quarantine / "model.pt").refusal


def object_array(folder: Path) -> Path:
    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, (CODE,))

    np.savez(folder / "data.npz", inputs=np.array([[Bomb()]], dtype=object))
    return folder / "data.npz"


def npy(header: str, payload: bytes) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + payload


def array(shape: str, payload: bytes = b"") -> bytes:
    return npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}", payload)


def data(*payloads: bytes, compression: int = zipfile.ZIP_STORED, cut: int = 0) -> Attack:
    """A data file with these entries, all named `inputs`, cut off by some bytes."""

    def attack(folder: Path) -> Path:
        path = folder / "data.npz"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile warns of names that occur twice
            with zipfile.ZipFile(path, "w", compression) as archive:
                for payload in payloads:
                    archive.writestr("inputs.npy", payload)
        path.write_bytes(path.read_bytes()[: -cut or None])
        return path

    return attack


DATA: dict[str, Attack] = {
    "object-array": object_array,
    "raw-pickle": as_bytes("data.npz", evil),
    "pickle-as-entry": data(evil()),
    "zeros-bomb": data(array("(5000000, 1)", b"\0" * 40_000_000), compression=zipfile.ZIP_DEFLATED),
    "claims-a-petabyte": data(array("(140737488355328, 1)")),
    "shape-that-is-code": data(array("(2**47, 1)")),
    "header-that-is-code": data(npy(f"__import__('builtins').{CODE}", b"")),
    "array-twice": data(evil(), evil()),
    "cut-off": data(array("(12, 1)", b"\0" * 96), cut=40),
}


@pytest.mark.parametrize("name", DATA)
def test_an_attack_in_a_data_file_neither_runs_nor_writes(
    name: str, quarantine: Path, harmless: Harmless, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("closedform.array_files.MAX_MEMORY", 2**20)
    path = DATA[name](quarantine)

    with harmless():
        assert inspect_file(path).size > 0
        with pytest.raises(DamagedFileError):
            load_inputs(path)
