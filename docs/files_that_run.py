"""List the files of the package that run when a neuron is read: ``python docs/files_that_run.py``.

With ``--write`` files_that_run.txt is brought up to date.
"""

import inspect
import sys
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

import closedform as cf
from closedform.reading.one_field import compile_all

LIST = Path(__file__).parent / "files_that_run.txt"
PACKAGE = Path(cf.__file__).parent


def files_that_run() -> list[str]:
    """Files in which a function was called, in the order of the first calls."""
    found: dict[str, None] = {}

    known: set[CodeType] = set()

    # Told of calls alone: a profiler would also hear of each return and each call into C.
    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code in known:
            return
        known.add(code)
        # Modules and classes that are only made do not count: their code has no fast variables.
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if is_function and code.co_filename.startswith(str(PACKAGE)):
            found.setdefault(Path(code.co_filename).relative_to(PACKAGE).as_posix())

    _ = cf.interpret  # imports most of it
    compile_all()  # what translates formulas for the compiler runs only the first time
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    sys.settrace(note)
    try:
        cf.interpret(
            lambda p: np.tanh(p[:, 0] ** 2 + 2 * p[:, 1]),
            points,
            budget=cf.Budget(evaluations=2000),
            rng=0,
            progress=False,
        )
    finally:
        sys.settrace(None)
    return [path for path in found if not path.endswith("__init__.py")]


def by_room(paths: list[str]) -> str:
    """A line for each folder, with its files in the order of their names."""
    rooms: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        rooms.setdefault(folder or "closedform", []).append(name.removesuffix(".py"))
    return "".join(f"{room}: {', '.join(names)}\n" for room, names in sorted(rooms.items()))


if __name__ == "__main__":
    listed = by_room(files_that_run())
    if "--write" in sys.argv:
        LIST.write_text(listed, encoding="utf-8")
    print(listed, end="")
