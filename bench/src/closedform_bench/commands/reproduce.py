"""``closedform reproduce``: the paper's experiments, from networks to scores."""

import json
import os
import shlex
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from closedform.cli.shared_options import deliver
from closedform.errors import shown

if TYPE_CHECKING:
    from closedform_bench.paper.reproduction import ExperimentOutcome

WIDEST_FORMULA = 44


def reproduce(
    numbers: Annotated[
        list[str] | None, typer.Argument(metavar="N|all", help="Experiments 1 to 12, or all.")
    ] = None,
    profile: Annotated[
        Literal["checkpoint", "quick", "paper"],
        typer.Option(
            metavar="P",
            help="checkpoint: shipped networks; quick: train small ones; paper: as in the paper.",
        ),
    ] = "checkpoint",
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Also fit the latent's values by direct regression.")
    ] = False,
    budget: Annotated[float, typer.Option(metavar="S", help="Seconds for each experiment.")] = 4.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of data, training and search.")] = 0,
    networks: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where trained networks are kept.")
    ] = None,
    processor: Annotated[
        bool, typer.Option("--processor", help="Count processor seconds, not the clock.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write tables, figures and reports.")
    ] = None,
) -> None:
    """Reproduce the paper's twelve experiments.

    Exit code 0 if all experiments asked for are recovered, 1 if not, 3 if files could not be
    written.

    \b
    Examples:
      closedform reproduce all
      closedform reproduce 8 9 --profile quick --baseline --out results
    """
    chosen = read_numbers(numbers or ["all"])
    from closedform.basics.files import check_folder
    from closedform.basics.optional import require
    from closedform.basics.progress import choose_progress
    from closedform.searching.budget import processor_seconds
    from closedform.searching.evolution.operon import load
    from closedform_bench.paper.reproduction import ReproductionSettings, summary
    from closedform_bench.paper.reproduction import reproduce as run

    for folder in (out, networks):
        if folder is not None:
            check_folder(folder)
    if out is not None:
        require("matplotlib", extra="report")
        require("jinja2", extra="report")
    if baseline:
        load()  # an error now, not after the first experiment
    settings = ReproductionSettings(
        profile=profile,
        directory=networks or network_cache(profile, seed),
        budget=budget,
        seed=seed,
        has_baseline=baseline,
        command=shlex.join(["closedform", *sys.argv[1:]]),
    )
    outcomes: list[ExperimentOutcome] = []
    if not as_json:
        typer.echo(header(baseline))
    for place, number in enumerate(chosen, start=1):
        typer.echo(f"experiment {number} ({place} of {len(chosen)})", err=True)
        with processor_seconds() if processor else nullcontext():
            outcomes.append(run(number, settings, progress=choose_progress(sys.stderr.isatty())))
        if outcomes[-1].reading is None:
            typer.echo(shown(outcomes[-1].score.reason), err=True)
        if not as_json:
            typer.echo(line(outcomes[-1]))
    result = summary(outcomes)
    typer.echo(json.dumps(result) if as_json else _last_line(result))
    if out is not None:
        from closedform_bench.paper.results import write_results

        deliver((partial(write_results, outcomes), out))
        typer.echo(f"written to {shown(out)}", err=True)
    raise typer.Exit(0 if result["recovered"] == result["of"] else 1)


def read_numbers(words: list[str]) -> list[int]:
    """Experiments by number, or all of them.

    Examples
    --------
    >>> read_numbers(["8", "2"])
    [8, 2]
    """
    from closedform_bench.paper.experiment_catalogue import EXPERIMENTS

    if words == ["all"]:
        return list(EXPERIMENTS)
    for word in words:
        if not word.isdecimal() or int(word) not in EXPERIMENTS:
            raise typer.BadParameter(
                f"There is no experiment {word!r}; give numbers from 1 to "
                f"{max(EXPERIMENTS)}, or all."
            )
    return list(dict.fromkeys(int(word) for word in words))


def network_cache(profile: str, seed: int) -> Path:
    """Where networks are kept that are trained on the way: in the user's cache folder, by profile
    and seed.
    """
    cache = os.environ.get("XDG_CACHE_HOME")
    return (
        (Path(cache) if cache else Path.home() / ".cache")
        / "closedform"
        / "networks"
        / f"{profile}-seed{seed}"
    )


def header(baseline: bool) -> str:
    """Titles of the table's columns."""
    titles = (
        f"{'':>2}  {'found':<{WIDEST_FORMULA}}  {'equivalence':<11}  {'verdict':<11}  "
        f"{'misalignment':>12}  {'search':>7}"
    )
    return titles + f"  {'training':>9}" + ("  direct regression" if baseline else "")


def line(outcome: "ExperimentOutcome") -> str:
    """A row of the table."""
    row = outcome.row()
    formula = (
        row["found"] or "(no network)"
        if outcome.reading is None
        else row["found"] or "(no formula)"
    )
    short = formula if len(formula) <= WIDEST_FORMULA else formula[: WIDEST_FORMULA - 3] + "..."
    numbers = [
        "-" if row["misalignment"] is None else f"{row['misalignment']:.1e}",
        "-" if row["search_seconds"] is None else f"{row['search_seconds']:.1f} s",
        "-" if row["train_seconds"] is None else f"{row['train_seconds']:.0f} s",
    ]
    text = (
        f"{outcome.number:>2}  {short:<{WIDEST_FORMULA}}  {row['equivalence']:<11}  "
        f"{row['verdict']:<11}  {numbers[0]:>12}"
    )
    text += f"  {numbers[1]:>7}  {numbers[2]:>9}"
    return text + (f"  {outcome.direct.score.status}" if outcome.direct else "")


def _last_line(result: dict) -> str:
    text = f"recovered {result['recovered']} of {result['of']}"
    direct = result["direct_recovered"]
    return text if direct is None else f"{text}; direct regression {direct}"
