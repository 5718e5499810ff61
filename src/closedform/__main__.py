"""``python -m closedform`` is the command line."""

from closedform.cli.entry import main

main()
