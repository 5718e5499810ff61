"""All parts, with rough estimates from their budgets and usual seconds, and all tables."""

from closedform_bench.figures.part import FigurePart, FigureTable
from closedform_bench.figures.script_tables import (
    show_page,
    tabulate_experiments,
    tabulate_new_user,
    tabulate_retrained,
    tabulate_retrainings,
    tabulate_targets,
    tabulate_units,
)
from closedform_bench.figures.suite_tables import (
    tabulate_formulas,
    tabulate_inputs,
    tabulate_invariants,
    tabulate_kinds,
    tabulate_systems,
    tabulate_verdicts,
)

ROWS = ("{store}/rows.jsonl", "--json")
"""Of scripts that keep their rows in a file."""


def _bench(name: str, minutes: float, options: str, *, seed: str = "--seed") -> FigurePart:
    words = ("closedform", "bench", "--suite", *options.split(), seed, "{seed}")
    return FigurePart(name, words, minutes)


def _surrogates(name: str, half: str) -> tuple[FigurePart, ...]:
    options = f"surrogates --half {half} --budget 10"
    return (
        _bench(f"{name}-exact", 5, options),
        _bench(f"{name}-noise", 6, f"{options} --noise 1"),
        _bench(f"{name}-networks", 8, f"{options} --track network"),
    )


def _invariants(name: str, minutes: float, options: str) -> FigurePart:
    return _bench(f"invariants-{name}", minutes, f"invariants {options}", seed="--seeds")


def _controls(track: str, minutes: float, *, seeds: str = "0:3") -> FigurePart:
    """Shipped networks have the seeds 0, 1 and 2."""
    words = ("closedform", "bench", "--suite", "controls", "--track", track, "--seeds", seeds)
    return FigurePart(f"controls-{track}", words, minutes)


def _baseline(tool: str, minutes: float, *options: str) -> FigurePart:
    words = ("closedform", "bench", "--suite", "invariants", "--tool", tool, *options)
    return FigurePart(
        f"invariants-{tool.replace(' ', '-')}", (*words, "--seeds", "{seed}"), minutes
    )


def _networks(part: FigurePart) -> FigurePart:
    """The same with networks that are trained for this measurement, not taken from a cache."""
    kept_by = (*part.kept_by, "--networks", "{store}/networks")
    return FigurePart(part.name, part.words, part.minutes, kept_by)


def _script(
    name: str, minutes: float, options: str, kept_by: tuple[str, ...] = ROWS, *, clock: str = ""
) -> FigurePart:
    words = ("python", *f"bench/scripts/{options}".split())
    return FigurePart(name, words, minutes, kept_by, tuple(clock.split()))


def _reproduction(name: str, minutes: float, options: str, *kept_by: str) -> FigurePart:
    words = ("closedform", "reproduce", "all", *options.split(), "--seed", "{seed}")
    return FigurePart(name, words, minutes, (*kept_by, "--json"))


_EVERY_PART = (
    _reproduction("paper", 4, "--profile checkpoint --baseline"),
    _reproduction("quick", 12, "--profile quick", "--networks", "{store}/networks"),
    _bench("random-exact", 3, "random --count 60"),
    _bench("random-noise", 10, "random --noise 1 --count 60"),
    _bench("random-networks", 20, "random --track network --count 60"),
    _bench("feynman-exact", 4, "feynman"),
    _bench("feynman-noise", 15, "feynman --noise 1"),
    _bench("feynman-networks", 35, "feynman --track network"),
    _bench("forms-exact", 22, "forms --budget 10 --count 120"),
    _bench("forms-noise", 24, "forms --noise 1 --budget 10 --count 120"),
    _bench("forms-networks", 32, "forms --track network --budget 10 --count 120"),
    *_surrogates("surrogates", "seen"),
    *_surrogates("surrogates-unseen", "unseen"),
    _bench("verdict-fields", 30, "verdict --systems fields --count 200"),
    _bench("verdict-networks", 55, "verdict --systems networks --count 200"),
    _bench("verdict-controls", 40, "verdict --systems controls --count 200"),
    _invariants("field-0", 12, "--track field --noise 0"),
    _invariants("field-1", 40, "--track field --noise 1"),
    _invariants("field-3", 40, "--track field --noise 3"),
    _networks(_invariants("network", 90, "--track network")),
    _baseline("direct regression", 14, "--budget", "20"),
    _baseline("implicit regression", 2, "--track", "pairs"),
    _controls("field", 2),
    _controls("network", 2),
    _invariants("flow-0", 10, "--track flow --noise 0"),
    _invariants("flow-1", 28, "--track flow --noise 1"),
    _invariants("pairs-0", 40, "--track pairs --noise 0"),
    _invariants("pairs-1", 40, "--track pairs --noise 1"),
    _controls("flow", 15, seeds="0:5"),
    _controls("pairs", 15, seeds="0:5"),
    _script("targets-ten", 4, "search_targets.py --set ten --seeds 3 --first-seed {seed}",
            ("--json",), clock="--processor"),
    _script("targets-new", 4, "search_targets.py --set new --seeds 3 --first-seed {seed}",
            ("--json",), clock="--processor"),
    _script("new-user", 60, "new_user.py --seeds 3 --first-seed {seed}"),
    _script("units", 6, "feynman_units.py --noise 1 --budget 4 --seed {seed}"),
    _script("reliability", 60, "reliability.py --share 1", ("--store", "{store}", "--json")),
)  # fmt: skip

FIGURE_PARTS = {part.name: part for part in _EVERY_PART}
"""By name, in the order in which they are measured."""


def _tracks(suite: str) -> tuple[str, ...]:
    return (f"{suite}-exact", f"{suite}-noise", f"{suite}-networks")


_SYSTEMS = (
    "invariants-field-0", "invariants-field-1", "invariants-field-3", "invariants-network",
    "invariants-direct-regression", "invariants-implicit-regression", "controls-field",
    "controls-network",
)  # fmt: skip

_MOTIONS = (
    "invariants-flow-0", "invariants-flow-1", "invariants-pairs-0", "invariants-pairs-1",
    "controls-flow", "controls-pairs",
)  # fmt: skip

LONG = "../bench/tables.md"
"""What is of interest to developers, and long; the pages of the docs have the sums."""

_EVERY_TABLE = (
    FigureTable("paper", "results.md", ("paper",), tabulate_experiments),
    FigureTable("quick", "results.md", ("quick",), tabulate_retrainings),
    FigureTable("quick-networks", LONG, ("quick",), tabulate_retrained),
    FigureTable("random", "searching.md", _tracks("random"), tabulate_formulas),
    FigureTable("random-inputs", LONG, _tracks("random"), tabulate_inputs),
    FigureTable("feynman", LONG, _tracks("feynman"), tabulate_formulas),
    FigureTable("forms", "searching.md", _tracks("forms"), tabulate_formulas),
    FigureTable("forms-kinds", LONG, _tracks("forms"), tabulate_kinds),
    FigureTable("surrogates", "searching.md", _tracks("surrogates"), tabulate_formulas),
    FigureTable("surrogates-unseen", "searching.md", _tracks("surrogates-unseen"),
                tabulate_formulas),
    FigureTable("verdict", LONG,
                ("verdict-fields", "verdict-networks", "verdict-controls"), tabulate_verdicts),
    FigureTable("invariants", "invariant_bench.md", _SYSTEMS, tabulate_invariants),
    FigureTable("invariants-systems", LONG, _SYSTEMS, tabulate_systems),
    FigureTable("motions", "invariant_bench.md", _MOTIONS, tabulate_invariants),
    FigureTable("motions-systems", LONG, _MOTIONS, tabulate_systems),
    FigureTable("targets", LONG, ("targets-ten", "targets-new"), tabulate_targets),
    FigureTable("new-user", LONG, ("new-user",), tabulate_new_user),
    FigureTable("units", "guides/units.md", ("units",), tabulate_units),
    FigureTable("reliability", "reliability.md", ("reliability",), show_page, is_whole_page=True),
)  # fmt: skip

FIGURE_TABLES = {table.name: table for table in _EVERY_TABLE}
"""By name."""
