"""Fuzz the readers of files from outside with atheris, each in a process of its own.

``python bench/scripts/fuzz_readers.py --seconds 5`` (in CI) or ``--minutes 60``, for each reader.
An input is a finding if opening it raises anything but an error of the package, or takes more than
the limits of ``closedform.basics.limits``. Inputs begin with sound files, which the script makes.
What reaches new code is kept under ``--corpus``, and so is the input of a finding.
"""

import argparse
import io
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import atheris  # pyright: ignore[reportMissingImports]
import numpy as np

from closedform.basics.compiled import HOT_FILES

# Branches of this code lead the way; what numba compiles it must find as it was written.
compiled = [f"closedform.{name[:-3].replace('/', '.')}" for name in HOT_FILES]
read = ["closedform", "json", "zipfile"]
instrumented = atheris.instrument_imports  # pyright: ignore[reportAttributeAccessIssue]
with redirect_stderr(io.StringIO()), instrumented(include=read, exclude=compiled):
    from hostile_onnx import CRAFTED, sound

    import closedform as cf
    import closedform.field.field_file
    import closedform.interpretation.answer
    import closedform.judge.select_stage
    import closedform.networks.onnx_network
    from closedform.basics import limits
    from closedform.cli import doctor_command
    from closedform.errors import ClosedformError
    from closedform.networks.model_files import load_network
    from closedform.networks.torch_layers import list_layers
    from closedform.sweeping.execution import store

KEY = "k1"


def onnx_files(folder: Path) -> list[bytes]:
    """Networks with most kinds of arguments."""
    rng = random.Random(0)
    made = [maker(rng) for maker in CRAFTED for _ in range(3)]
    files = [m if isinstance(m, bytes) else m.SerializeToString() for m in made]
    return [sound(rng), *(content for content in files if len(content) < 20_000)]


def open_onnx(folder: Path, data: bytes) -> None:
    """Open a network and list its layers."""
    list_layers(load_network(_written(folder / "net.onnx", data)))


@cache
def field_entries() -> dict[str, bytes]:
    """What is in a small field with all that it may have, by name."""
    points = np.random.default_rng(0).uniform(-1, 1, (12, 2))
    field = cf.GradientField.from_arrays(
        points, 2 * points, latents=(points**2).sum(axis=1), names=["x", "v"],
        units={"x": "m", "v": "m/s"}, tangent="linear",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        field.save(path := Path(folder, "field.npz"))
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def archive_of(entries: dict[str, bytes]) -> bytes:
    """An archive, not compressed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def field_files(folder: Path) -> list[bytes]:
    """A whole file behind a 0, and each entry of it behind its number."""
    entries = field_entries()
    wholes = [archive_of(entries), *entries.values()]
    return [bytes([number]) + content for number, content in enumerate(wholes)]


def open_field(folder: Path, data: bytes) -> None:
    """Open a file, or a sound one with one entry exchanged, which a checksum would protect."""
    entries, number, content = field_entries(), data[:1], data[1:]
    if b"\0" < number <= bytes([len(entries)]):
        content = archive_of({**entries, list(entries)[number[0] - 1]: content})
    cf.load_field(_written(folder / "field.npz", content))


def answer_files(folder: Path) -> list[bytes]:
    """An answer, a part of one, and the result of a search."""
    points = np.random.default_rng(0).uniform(-1, 1, (120, 2))
    field = cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"])
    cf.interpret_field(field, engine="terms", budget=cf.Budget(evaluations=300), rng=0).save(
        folder / "answer.json"
    )
    cf.search(field, engine="terms", budget=cf.Budget(evaluations=100), rng=0).save(
        folder / "result.json"
    )
    return [(folder / name).read_bytes() for name in ("answer.json", "result.json")]


def open_answer(folder: Path, data: bytes) -> None:
    """Open and show it, as doctor and the report do."""
    path = _written(folder / "answer.json", data)
    if doctor_command._json(path)[0] == "closedform interpretation":
        str(cf.load_interpretation(path))


def store_files(folder: Path) -> list[bytes]:
    """A record and a part, each behind the letter that says which it is."""
    record = {"neuron": "a:0", "status": "done", "n": 3, "share": 0.5, "front": [{"text": "x"}]}
    store.ResultStore(folder / "made").parts.add([(f"k{place}", '{"n": 1}') for place in range(3)])
    (part,) = (folder / "made" / "parts").iterdir()
    whole = store.encode(KEY, record)
    return [b"r" + whole, b"c" + whole.partition(b"\n")[2], b"p" + part.read_bytes()]


def open_store(folder: Path, data: bytes) -> None:
    """Read a store with one file: a record (r), one with a right checksum (c), or a part (p)."""
    here = store.ResultStore(folder / "made")
    kind, content = data[:1], data[1:]
    if kind == b"p":
        name = f"parts/{2:020d}-{blake2b(content, digest_size=16).hexdigest()}.parquet"
    else:
        name = store._file(KEY)
        if kind == b"c":
            header = store.encode(KEY, {}).partition(b"\n")[0]
            checksum = store._checksum(KEY, store.SCHEMA, content)
            header = re.sub(rb'"checksum": "\w+"', b'"checksum": "%s"' % checksum.encode(), header)
            content = header + b"\n" + content + b"\n"
    here.folder.write(name, content)
    try:
        list(islice(here.records(), doctor_command.MOST_RECORDS))
        here.check()
        here.get(KEY)
        store.read_table(here)
    finally:
        here.folder.remove(name)


READERS: dict[str, tuple[Callable[[Path], list[bytes]], Callable[[Path, bytes], None]]] = {
    "onnx": (onnx_files, open_onnx),
    "field": (field_files, open_field),
    "answer": (answer_files, open_answer),
    "store": (store_files, open_store),
}


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def fuzz(name: str, corpus: Path, seconds: int, log: Path) -> None:
    """Fuzz one reader in this process, which ends with the time or with the first finding."""
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    make, open_file = READERS[name]
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, content in enumerate(make(folder)):
            (corpus / f"sound{number}").write_bytes(content)

        def try_one(data: bytes) -> None:
            began = time.process_time()
            with suppress(ClosedformError):
                open_file(folder, data)
            spent = time.process_time() - began
            if spent > limits.SECONDS:
                raise RuntimeError(f"it took {spent:.1f} s of the processor")

        # The clock on the wall only ends what hangs; memory is that of the whole process.
        options = [
            f"-max_total_time={seconds}", f"-timeout={6 * limits.SECONDS:.0f}", "-max_len=20000",
            f"-rss_limit_mb={limits.MEMORY >> 20}", f"-artifact_prefix={corpus}/finding-",
            "-print_final_stats=1",
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *options, str(corpus)], try_one)
        atheris.Fuzz()


def main() -> None:
    """Fuzz the readers one after the other; exit code 1 if there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--seconds", type=int, default=15, help="for each reader")
    parser.add_argument("--minutes", type=int, help="for each reader, instead")
    parser.add_argument("--corpus", type=Path, help="where inputs are kept; nowhere by default")
    options = parser.parse_args()
    seconds = options.seconds if options.minutes is None else 60 * options.minutes
    failed = False
    with tempfile.TemporaryDirectory() as place:
        for name in options.readers.split(","):
            corpus, log = (options.corpus or Path(place)) / name, Path(place, f"{name}.log")
            process = multiprocessing.get_context("fork").Process(
                target=fuzz, args=(name, corpus, seconds, log)
            )
            process.start()
            process.join()
            text = log.read_text(errors="replace")
            said = dict(re.findall(r"stat::(\w+): +(\d+)", text))
            result = "A FINDING" if process.exitcode else "no finding"
            print(
                f"{name}: {int(said.get('number_of_executed_units', 0)):,} inputs in {seconds} s, "
                f"{said.get('peak_rss_mb', '?')} MB, {result}",
                flush=True,
            )
            if process.exitcode:
                failed = True
                print(text[-3000:], flush=True)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
