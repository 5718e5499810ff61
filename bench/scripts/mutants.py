"""Mutation testing: change the package in one place, drawn by seed, and see whether a test notices.

A mutant lives in a copy of the checkout, so nothing here is changed. It meets the doctests of its
module, the tests of its room, and the evidence that is kept of whole readings: the quick ones that
pass without a change, of files that reach its line. Files with compiled code are tried without
compilation, which would take minutes for each mutant; the others use the machine code that is kept
on disk. Outcomes are kept, so that a run goes on where it stopped. It needs `pip install coverage`.
"""

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("expressions", "alignment", "neighbours", "judge")
PARTS = ("src", "tests", "docs", "conftest.py", "pyproject.toml", "README.md", "CONTRIBUTING.md")
"""What the copy needs."""

WHOLE = "tests/judge/test_verify_stage.py"
"""What all rooms say together about small fields."""

LOADED = ("numba", "pandas", "scipy.optimize", "sklearn.base", "sympy")
"""Every mutant is a fork of a process that has loaded these, but not the package."""

LONGEST = 3.0
"""Processor seconds of a test that mutants meet; longer ones would cost more than they find."""

PATIENCE = 5
"""A mutant that needs so many times what the tests need without it hangs."""

NO_TESTS, NOT_RUN = pytest.ExitCode.NO_TESTS_COLLECTED, 99
"""What the tests end with if there are none, or if pytest itself failed."""

EVERYWHERE = "*"

START_UP = 30.0
"""Processor seconds for imports and collection, at most."""

SWAPS: dict[Any, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes
    ----------
    file : Path
        Relative to the package.
    place : int
        Which of the file's places.
    line : int
    what : str
    """

    file: Path
    place: int
    line: int
    what: str

    @property
    def name(self) -> str:
        """Under which its outcome is kept; another after the file has changed there."""
        return f"{self.file}:{self.line} {self.what} (place {self.place})"


def places(tree: ast.AST) -> Iterator[tuple[Any, str]]:
    """What can be changed in a module, and into what."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.Compare(ops=[op, *_]):
                if type(op) in SWAPS:
                    yield node, f"{type(op).__name__} -> {SWAPS[type(op)].__name__}"
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield node, f"{type(node.op).__name__} taken out"
            case ast.Constant(value=bool() | int() | float() as value):
                yield node, f"{value} changed"


def change(node: Any) -> None:
    """Change one place."""
    match node:
        case ast.BinOp() | ast.BoolOp():
            node.op = SWAPS[type(node.op)]()
        case ast.Compare():
            node.ops[0] = SWAPS[type(node.ops[0])]()
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1
    ast.fix_missing_locations(node)


def all_mutants() -> list[Mutant]:
    """Every place of every room."""
    sources = ROOT / "src" / "closedform"
    return [
        Mutant(file.relative_to(sources), place, node.lineno, what)
        for room in ROOMS
        for file in sorted((sources / room).rglob("*.py"))
        for place, (node, what) in enumerate(places(ast.parse(file.read_text())))
    ]


def hot_files() -> set[str]:
    """Files whose text decides what compiled code does; read, since the package is not loaded."""
    tree = ast.parse((ROOT / "src/closedform/basics/compiled.py").read_text())
    (named,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOT_FILES"
    ]
    return set(ast.literal_eval(named))


class Watch:
    """A plugin that notes the processor seconds of quick tests that pass, or runs only those."""

    def __init__(self, quick: dict[str, float] | None, coverage: Any = None) -> None:
        self.quick = quick
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_configure(self) -> None:
        """Keep no examples: one that fails by chance would kill all mutants that follow."""
        settings = import_module("hypothesis").settings
        settings.register_profile("mutants", database=None, derandomize=True)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep those that were noted."""
        if self.quick is not None:
            items[:] = [item for item in items if item.nodeid in self.quick]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the time, and note for whom lines are reached."""
        if self.coverage is not None:
            self.coverage.switch_context(item.nodeid)
        began = sum(os.times()[:4])
        result = yield
        self.seconds[item.nodeid] = sum(os.times()[:4]) - began
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Without a mutant, end a preparation that takes too long."""
        yield from self._limited()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Without a mutant, end a test that takes too long."""
        yield from self._limited()

    def _limited(self) -> Iterator[None]:
        if self.quick is None or self.coverage is not None:
            signal.signal(signal.SIGVTALRM, _too_long)
            slower = 1 if self.coverage is None else PATIENCE
            signal.setitimer(signal.ITIMER_VIRTUAL, slower * LONGEST)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass."""
        if not report.passed:
            self.failed.add(report.nodeid)


def _too_long(*_: object) -> None:
    raise TimeoutError("not among the quick tests")


def run_tests(
    copy: Path, tests: list[str], quick: dict[str, float] | None, *, compiling: bool,
    seconds: float, traced: bool = False,
) -> tuple[int, float, dict[str, Any]]:  # fmt: skip
    """Run tests in a fork, at most so many processor seconds.

    Returns the exit status (0 if none failed), the seconds, and those of each test that passed
    below the longest; or, if they are traced, which tests reach which lines of the rooms' files.
    """
    noted = copy / "noted.json"
    noted.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        status = NOT_RUN
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (round(seconds) + 1, round(seconds) + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.chdir(copy)
            sys.path.insert(0, str(copy / "src"))
            os.environ["PYTHONPATH"] = str(copy / "src")
            if not compiling:
                os.environ["NUMBA_DISABLE_JIT"] = "1"
                import_module("numba").config.DISABLE_JIT = True
            coverage = _coverage(copy) if traced else None
            watch = Watch(quick, coverage)
            may_fail = quick is None or traced
            options = ["-q", "-p", "no:cacheprovider", *([] if may_fail else ["-x"])]
            status = int(pytest.main([*options, *tests], plugins=[watch]))
            passed = {n: s for n, s in watch.seconds.items() if n not in watch.failed}
            quick_ones: dict[str, Any] = {n: s for n, s in passed.items() if s < LONGEST}
            noted.write_text(
                json.dumps(quick_ones if coverage is None else _reached(coverage, copy, watch))
            )
        finally:
            os._exit(status)
    _, ended, used = os.wait4(process, 0)
    found = json.loads(noted.read_text()) if noted.exists() else {}
    killed = os.WIFSIGNALED(ended)
    status = -os.WTERMSIG(ended) if killed else os.WEXITSTATUS(ended)
    return status, used.ru_utime + used.ru_stime, found


def _coverage(copy: Path) -> Any:
    """Begin to note which test reaches which line of the rooms' files."""
    rooms = [str(copy / "src/closedform" / room / "*") for room in ROOMS]
    coverage = import_module("coverage").Coverage(data_file=None, include=rooms)
    coverage.start()
    return coverage


def _reached(coverage: Any, copy: Path, watch: Watch) -> dict[str, dict[Any, list[str]]]:
    """For each file, which tests reach which line; those that fail while they are traced count as
    reaching all of them.
    """
    coverage.stop()
    data = coverage.get_data()
    root = copy / "src/closedform"
    found: dict[str, dict[Any, list[str]]] = {
        str(Path(file).relative_to(root)): data.contexts_by_lineno(file)
        for file in data.measured_files()
    }
    return found | {EVERYWHERE: {EVERYWHERE: sorted(watch.failed)}}


def statement_lines(tree: ast.AST, line: int) -> range | None:
    """The lines of the innermost statement around a line, without the statements inside it; None
    outside of functions, where what is done once at the import is for all tests.
    """
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line)
    ]
    inner = max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)
    definitions = [n for n in around if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    if inner is None or not definitions or inner in definitions:
        return None
    body = getattr(inner, "body", None)
    return range(inner.lineno, body[0].lineno if body else (inner.end_lineno or line) + 1)


@dataclass
class Trial:
    """The copy, what its tests need without a change, and what came of mutants so far."""

    store: Path
    seed: int
    used: float = 0.0

    def __post_init__(self) -> None:
        self.copy = self.store / "copy"
        self.hot = hot_files()
        self.outcomes = self._read("mutants")
        self.baselines = self._read("baselines")
        self.traces = self._read("traces")
        for part in PARTS:
            source, target = ROOT / part, self.copy / part
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)

    def _read(self, name: str) -> dict[str, Any]:
        self.copy.mkdir(parents=True, exist_ok=True)
        file = self.store / f"{name}_{self.seed}.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def _write(self, name: str, content: dict[str, Any]) -> None:
        (self.store / f"{name}_{self.seed}.json").write_text(json.dumps(content))

    def run(
        self, tests: list[str], quick: dict[str, float] | None, hot: bool, traced: bool = False
    ) -> Any:
        """See `run_tests`; seconds are added up."""
        usual = 600.0 if quick is None or traced else START_UP + PATIENCE * sum(quick.values())
        found = run_tests(self.copy, tests, quick, compiling=not hot, seconds=usual, traced=traced)
        self.used += found[1]
        return found

    def baseline(self, tests: str, hot: bool) -> dict[str, float]:
        """Quick tests that pass without a change, with their seconds."""
        name = f"{tests} {'without' if hot else 'with'} compilation"
        if name not in self.baselines:
            status, _, found = self.run([tests], None, hot)
            # Tests may fail (too long, or not without compilation), but they must have been run.
            if status not in (0, pytest.ExitCode.TESTS_FAILED, NO_TESTS):
                raise SystemExit(f"pytest ended with {status} in {tests}, without a change.")
            self.baselines[name] = found
            self._write("baselines", self.baselines)
            print(f"{name}: {len(found)} quick tests", flush=True)
        return self.baselines[name]

    def reaching(self, tests: str, hot: bool, mutant: Mutant, tree: ast.AST) -> dict[str, float]:
        """Of the quick tests those in files that reach a mutant."""
        quick = self.baseline(tests, hot)
        lines = statement_lines(tree, mutant.line)
        if lines is None or not quick:
            return quick
        name = f"{tests} {'without' if hot else 'with'} compilation"
        if name not in self.traces:
            files = sorted({one.split("::")[0] for one in quick})
            self.traces[name] = self.run(files, quick, hot, traced=True)[2]
            self._write("traces", self.traces)
            self.traces = self._read("traces")  # where lines are text, as later
            print(f"{name}: traced", flush=True)
        trace = self.traces[name]
        reached = trace.get(str(mutant.file), {})
        found = {one for line in lines for one in reached.get(str(line), [])}
        found |= set(trace[EVERYWHERE][EVERYWHERE])
        # Tests of one file share what is prepared, which counts for the first of them.
        files = {one.split("::")[0] for one in found}
        return {one: seconds for one, seconds in quick.items() if one.split("::")[0] in files}

    def outcome(self, mutant: Mutant) -> str:
        """``killed``, ``killed by time`` or ``survived``."""
        hot = str(mutant.file) in self.hot
        file, room = f"src/closedform/{mutant.file}", f"tests/{mutant.file.parts[0]}"
        own = f"tests/{mutant.file.parent}/test_{mutant.file.name}::"
        tree = ast.parse((ROOT / file).read_text())
        doctests = self.baseline(file, hot)
        tests, whole = (self.reaching(one, hot, mutant, tree) for one in (room, WHOLE))
        # What is most likely to notice comes first.
        near = doctests | {name: s for name, s in tests.items() if name.startswith(own)}
        far = {name: s for name, s in tests.items() if name not in near | whole}
        changed = self.copy / file
        change(list(places(tree))[mutant.place][0])
        changed.write_text(ast.unparse(tree))
        try:
            for noted in (near, whole, far):
                if not noted:
                    continue
                status, *_ = self.run(sorted({name.split("::")[0] for name in noted}), noted, hot)
                if status == NOT_RUN:
                    raise SystemExit(f"The tests of {mutant.name} could not be run.")
                if status not in (0, NO_TESTS):
                    return "killed by time" if status < 0 else "killed"
        finally:
            shutil.copy2(ROOT / file, changed)
        return "survived"

    def go_on(self, drawn: list[Mutant], rooms: list[str], minutes: float) -> None:
        """Try what was not tried in some rooms, as long as the processor minutes allow."""
        for mutant in drawn:
            if mutant.name in self.outcomes or mutant.file.parts[0] not in rooms:
                continue
            if self.used > 60 * minutes:
                return
            found = self.outcome(mutant)
            self.outcomes[mutant.name] = found
            self._write("mutants", self.outcomes)
            print(f"{found}: {mutant.name}", flush=True)


def main() -> None:
    """Print a line for each mutant, and the share killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="where outcomes are kept")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0, help="of the processor")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="of those drawn, only these")
    options = parser.parse_args()
    rooms = options.rooms.split(",")
    drawn = random.Random(options.seed).sample(all_mutants(), options.count)
    for name in LOADED:
        import_module(name)
    trial = Trial(options.store.resolve(), options.seed)
    trial.go_on(drawn, rooms, options.minutes)
    # Not before: what runs the tests must not have loaded the package.
    rows = import_module("closedform_bench.reliability.mutant_shares").mutant_rows
    print(rows({m.name: trial.outcomes[m.name] for m in drawn if m.name in trial.outcomes}), end="")


if __name__ == "__main__":
    main()
