"""What all tests need, of both distributions."""

import signal

# Where a shell started pytest in the background SIGINT is ignored, and tests of Ctrl-C would wait
# for what cannot come.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
