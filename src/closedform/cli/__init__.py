"""The command line: results on stdout, messages on stderr, exit codes that a script can trust.

`app` lists the commands; each calls one public function and prints what it returns. `entry` turns
errors into sentences. Start with `app`, then `answer_commands`.
"""
