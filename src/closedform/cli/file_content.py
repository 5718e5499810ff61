"""What ``closedform doctor FILE`` prints."""

from pathlib import Path

import typer

LONGEST_LIST = 40
"""Entries of a file that are listed; networks have thousands."""


def show_file(file: Path) -> int:
    """Print what a file holds; 0 if closedform opens it, 1 if it does not."""
    from closedform.networks.untrusted.inspection import inspect_file

    found = inspect_file(file)
    typer.echo(f"{_plain(file.name)}: {found.kind}, {found.size:,} bytes")
    _show("entries", [(part.name, part.detail) for part in found.entries])
    _show("tensors", [(part.name, part.detail) for part in found.tensors])
    _show("unpickling would import", [(name, "") for name in found.imports])
    if found.refusal:
        typer.echo(f"closedform refuses it: {_plain(found.refusal)}")
        return 1
    typer.echo("closedform opens it")
    return 0


def _show(title: str, rows: list[tuple[str, str]]) -> None:
    if not rows:
        return
    typer.echo(f"{title}: {len(rows)}")
    width = min(60, max(len(name) for name, _ in rows[:LONGEST_LIST]))
    for name, detail in rows[:LONGEST_LIST]:
        typer.echo(f"  {_plain(name):<{width}}  {_plain(detail)}".rstrip())
    if len(rows) > LONGEST_LIST:
        typer.echo(f"  and {len(rows) - LONGEST_LIST:,} more")


def _plain(text: str) -> str:
    """Without characters that would move the cursor or colour the terminal; the file chose them."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[:500])
    return shown + ("..." if len(text) > 500 else "")
