"""``python -m closedform.cli``."""

from closedform.cli.entry import main

main()
