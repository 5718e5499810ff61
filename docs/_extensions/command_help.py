"""The directives ``command-help`` and ``all-commands``: what ``closedform COMMAND --help`` prints,
from the program itself.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from closedform.cli.app import app as command_line

WIDTH = "100"


def help_text(command: str) -> str:
    """The help of a command, or of the whole program for the empty text."""
    arguments = [*command.split(), "--help"]
    environment = {"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1"}
    result = CliRunner().invoke(command_line, arguments, prog_name="closedform", env=environment)
    if result.exit_code != 0:
        raise ValueError(
            f"`closedform {command} --help` ended with {result.exit_code}: {result.output}"
        )
    return result.output.strip()


class CommandHelp(SphinxDirective):
    """``{command-help} interpret``."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        command = self.arguments[0] if self.arguments else ""
        shown = f"$ closedform {command} --help".replace("  ", " ") + "\n" + help_text(command)
        return [nodes.literal_block(shown, shown, language="text")]


class AllCommands(SphinxDirective):
    """A section for each command of the program."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        sections: list[nodes.Node] = []
        for command in command_line.registered_commands:
            if command.hidden:  # its distribution is not installed here
                continue
            name = command.name or (command.callback.__name__ if command.callback else "")
            shown = f"$ closedform {name} --help\n{help_text(name)}"
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += [nodes.title(text=name), nodes.literal_block(shown, shown, language="text")]
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("all-commands", AllCommands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
