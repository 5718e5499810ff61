"""The command line: results on stdout, messages on stderr, exit codes that a script can trust.

`app` lists the commands; each calls one public function and prints what it returns. `entry` turns
errors into sentences. Start with `app`, then `answer_commands`.
"""

STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

STOPPED_LINE = "\nclosedform: stopped.\n"
"""What Ctrl-C leaves; the line of progress, if there is one, ends before it."""
