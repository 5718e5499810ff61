"""Commands that take a formula, which may begin with a minus sign."""

import re
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand

_OPTION = re.compile(r"(--[a-z][a-z-]+)(=.*)?")


class FormulaCommand(TyperCommand):
    """Takes what looks like an unknown option for a formula, unless it is a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Called by Typer before options and arguments are told apart."""
        known = [name for parameter in self.get_params(ctx) for name in parameter.opts]
        for argument in args:
            match = _OPTION.fullmatch(argument)
            if match is not None and match[1] not in known:
                close = get_close_matches(match[1], known, n=1)
                hint = (
                    f" Did you mean {close[0]}?"
                    if close
                    else " If it is a formula, put it in parentheses."
                )
                raise typer.BadParameter(f"No such option: {match[1]}.{hint}", ctx=ctx)
        return super().parse_args(ctx, args)
