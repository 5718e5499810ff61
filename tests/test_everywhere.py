"""What is declared about platforms and interpreters, and that nothing calls what one of them lacks.

Windows cannot be had on every machine; what is missing there can be looked for on all.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = sorted(
    file for part in ("src", "bench/src") for file in (ROOT / part).rglob("*.py")
)  # fmt: skip

OF_POSIX = {"bench/src/closedform_bench/reliability/saves.py"}
"""It kills processes in the way of POSIX, and is run by hand."""

POSIX_MODULES = {
    "fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty",
}  # fmt: skip
POSIX_NAMES = {
    "os": {
        "chown", "fchmod", "fork", "forkpty", "geteuid", "getgid", "getloadavg", "getpgid",
        "getpgrp", "getuid", "killpg", "lchown", "mkfifo", "nice", "posix_spawn", "pread",
        "pwrite", "register_at_fork", "sched_getaffinity", "setpgid", "setsid", "sysconf",
        "uname", "wait", "wait4", "waitid", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW",
        "WEXITSTATUS", "WIFSIGNALED",
    },
    "signal": {
        "alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait",
        "SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP",
        "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGWINCH",
    },
    "select": {"epoll", "kqueue", "poll"},
    "time": {"clock_gettime", "tzset"},
}  # fmt: skip


def guarded(tree: ast.AST) -> set[ast.AST]:
    """What stands under a test of the platform, or of whether a name is there."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp) and re.search(
            r"sys\.platform|os\.name|hasattr\(", ast.unparse(node.test)
        ):
            found.update(ast.walk(node))
    return found


def faults(source: str) -> Iterator[str]:
    """Calls that Windows lacks, and text files whose encoding Windows chooses otherwise."""
    tree = ast.parse(source)
    allowed = guarded(tree)
    for node in ast.walk(tree):
        if node in allowed:
            continue
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            yield from (f"{node.lineno}: import {name}" for name in names & POSIX_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            missing = POSIX_NAMES.get(node.module, set()) & {alias.name for alias in node.names}
            if node.module in POSIX_MODULES or missing:
                yield f"{node.lineno}: from {node.module}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in POSIX_NAMES.get(node.value.id, set()):
                yield f"{node.lineno}: {node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[str]:
    called = ast.unparse(node.func).rpartition(".")[2]
    words = {keyword.arg for keyword in node.keywords}
    given = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if called == "get_context" and {"fork", "forkserver"} & set(given):
        yield f"{node.lineno}: processes that are forked"
    is_text = called in ("read_text", "write_text") and len(node.args) <= (called == "write_text")
    if is_text and not words & {"encoding", None}:
        yield f"{node.lineno}: {called} without an encoding"
    if isinstance(node.func, ast.Name) and called == "open" and "encoding" not in words:
        mode = given[-1] if given and len(node.args) > 1 else "r"
        if "b" not in str(mode):
            yield f"{node.lineno}: open without an encoding"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import fcntl", 1),
        ("from os import fork", 1),
        ("import os\nos.fork()", 1),
        ("import os, sys\nif sys.platform != 'win32':\n    os.nice(3)", 0),
        ("import signal\nsignal.SIGKILL", 1),
        ("get_context('fork')", 1),
        ("path.read_text()\npath.write_text(text)\nopen(path)\nopen(path, 'w')", 4),
        ("path.read_text(encoding='utf-8')\nopen(path, 'rb')\npath.write_text(t, 'utf-8')", 0),
    ],
)
def test_the_look_finds_what_it_should(source, expected):
    assert len(list(faults(source))) == expected


def test_nothing_is_called_that_windows_lacks():
    found = [
        f"{file.relative_to(ROOT).as_posix()}:{fault}"
        for file in SOURCES
        if file.relative_to(ROOT).as_posix() not in OF_POSIX
        for fault in faults(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_classifiers_are_the_interpreters_that_are_allowed():
    allowed = SpecifierSet(PROJECT["requires-python"])
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == [f"3.{minor}" for minor in range(8, 30) if f"3.{minor}.1" in allowed]
    bench = tomllib.loads((ROOT / "bench/pyproject.toml").read_text(encoding="utf-8"))
    assert bench["project"]["requires-python"] == PROJECT["requires-python"]


@pytest.mark.parametrize(
    ("system", "machine", "kernel", "version"),
    [
        ("linux", "x86_64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)", "0.6.2"),
        ("linux", "aarch64", "#1 SMP Debian 6.1.55-1 (2023-09-29)", None),
        ("darwin", "arm64", "Darwin Kernel Version 25.1.0: Mon Oct 20 19:34:05 PDT", "0.6.2"),
        ("darwin", "arm64", "Darwin Kernel Version 23.0.0: Fri Sep 15 14:41:34 PDT", "0.6.2"),
        ("darwin", "arm64", "Darwin Kernel Version 22.6.0: Wed Jul  5 22:22:05 PDT", None),
        ("darwin", "x86_64", "Darwin Kernel Version 25.1.0: Mon Oct 20 19:34:05 PDT", None),
        ("win32", "AMD64", "10.0.22631", "0.6.1"),
        ("win32", "ARM64", "10.0.22631", None),
    ],
)
def test_pyoperon_is_asked_for_where_it_has_wheels(system, machine, kernel, version):
    surroundings = {
        "sys_platform": system, "platform_machine": machine, "platform_version": kernel
    }  # fmt: skip
    asked = [
        wanted.specifier
        for wanted in map(Requirement, PROJECT["dependencies"])
        if wanted.name == "pyoperon" and wanted.marker and wanted.marker.evaluate(surroundings)
    ]
    assert [version in specifier for specifier in asked] == [True] * (version is not None)


def test_no_marker_compares_releases_of_kernels():
    """pip 24 reads both sides as versions, and a kernel named 6.8.0-45-generic ends the install."""
    asked = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert not [line for lines in asked for line in lines if "platform_release" in line]


def test_the_conda_recipe_asks_for_what_the_package_does():
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    version = (ROOT / "src/closedform/__init__.py").read_text(encoding="utf-8")
    assert f'version: "{re.findall(r"__version__ = .(.+).$", version, re.MULTILINE)[0]}"' in recipe
    asked = re.findall(r"^    - (\S+ \S+)$", recipe.partition("  run:\n")[2], re.MULTILINE)
    needed = [line.replace(">=", " >=") for line in PROJECT["dependencies"] if ";" not in line]
    assert asked == [f"python {PROJECT['requires-python']}", *needed]
    entry = PROJECT["scripts"]["closedform"]
    assert f"closedform = {entry}" in recipe


def test_the_container_file_copies_what_is_there():
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE) for name in line.split()
    ]
    assert all((ROOT / name).exists() for name in copied)
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], "src"} <= set(copied)
