"""``python -m closedform.cli``."""

from closedform.cli.app import main

main()
