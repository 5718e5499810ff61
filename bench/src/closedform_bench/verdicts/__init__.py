"""How far verdicts can be trusted: fresh fields, networks and controls, read once and counted."""
