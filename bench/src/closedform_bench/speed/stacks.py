"""Where processor time goes: the stack of the main thread is looked at every few milliseconds."""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any

INTERVAL = 0.002
"""Seconds between two looks."""

OWN = "closedform."
_WRAPPERS = ("closedform.basics.threads", "closedform.basics.keywords")

Stack = tuple[str, ...]
"""Functions from the outermost to the innermost, as 'folder/file: function'; the last one may be
the package in which our function was waiting.
"""


class StackSampler:
    """Looks at the thread that made it while a block runs.

    Attributes
    ----------
    stacks : dict
        Processor seconds of each stack.

    Examples
    --------
    >>> with StackSampler() as sampler:
    ...     total = sum(number**2 for number in range(300_000))
    >>> sum(sampler.stacks.values()) > 0
    True
    """

    def __init__(self) -> None:
        self.stacks: dict[Stack, float] = defaultdict(float)
        self._watched = threading.get_ident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "StackSampler":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        before = time.process_time()
        while not self._over.wait(INTERVAL):
            now = time.process_time()
            frame = sys._current_frames().get(self._watched)
            self.stacks[stack_of(frame)] += now - before
            before = now


def stack_of(frame: FrameType | None) -> Stack:
    """The functions of this package in a stack, and at its end the package that they called."""
    names: list[str] = []
    outside = ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(OWN):
            # Of what our innermost function called, the outermost package counts.
            outside = outside if names else module.partition(".")[0]
        elif module not in _WRAPPERS and not frame.f_code.co_name.startswith("<"):
            name = f"{module.removeprefix(OWN).replace('.', '/')}: {_function(frame.f_code)}"
            if not names or names[-1] != name:
                names.append(name)
        frame = frame.f_back
    if not names:
        return ()
    return (*reversed(names), outside) if outside else tuple(reversed(names))


def _function(code: CodeType) -> str:
    parts = [part for part in code.co_qualname.split(".") if not part.startswith("<")]
    return ".".join(parts[-2:]) if parts[0][:1].isupper() else parts[-1]


def tree_of(stacks: Mapping[Stack, float], least: float) -> dict[str, Any]:
    """Stacks as a tree of names, seconds and children, the largest first.

    Parameters
    ----------
    stacks : mapping of tuple to float
    least : float
        Nodes with a smaller share of all seconds are left out.

    Examples
    --------
    >>> tree = tree_of({("a", "b"): 3.0, ("a",): 1.0, (): 0.5}, 0.01)
    >>> [(node["name"], node["seconds"]) for node in (tree, *tree["children"])]
    [('all', 4.0), ('a', 4.0)]
    """
    inside = {stack: seconds for stack, seconds in stacks.items() if stack}
    total = sum(inside.values())
    return _node("all", inside, 0, least * total)


def _node(name: str, stacks: dict[Stack, float], depth: int, least: float) -> dict[str, Any]:
    groups: dict[str, dict[Stack, float]] = {}
    for stack, seconds in stacks.items():
        if len(stack) > depth:
            groups.setdefault(stack[depth], {})[stack] = seconds
    children = [
        _node(child, group, depth + 1, least)
        for child, group in groups.items()
        if sum(group.values()) >= least
    ]
    children.sort(key=lambda node: -node["seconds"])
    return {"name": name, "seconds": sum(stacks.values()), "children": children}


def innermost(stacks: Mapping[Stack, float]) -> list[tuple[str, float]]:
    """Share of the seconds in each innermost function of ours, with what it called outside, the
    largest first.

    Examples
    --------
    >>> innermost({("a: f", "numpy"): 3.0, ("a: f",): 1.0, ("a: f", "b: g"): 4.0})
    [('b: g', 0.5), ('a: f (numpy)', 0.375), ('a: f', 0.125)]
    """
    shares: dict[str, float] = defaultdict(float)
    total = sum(seconds for stack, seconds in stacks.items() if stack)
    for stack, seconds in stacks.items():
        if stack:
            is_ours = ":" in stack[-1]
            name = stack[-1] if is_ours else f"{stack[-2]} ({stack[-1]})"
            shares[name] += seconds / total
    return sorted(shares.items(), key=lambda pair: -pair[1])
