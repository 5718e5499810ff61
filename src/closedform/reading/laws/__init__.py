"""Laws: what flows, trajectories, pairs and learned simulators conserve.

In comes a motion, made ready by `motion_evidence`; out come independent laws with verdicts, how
many there can be (`counting`), and how they drift (`found_laws`). `law_search` tries sums of terms
library by library and keeps the simplest that are independent; `discovery` trains networks where
pairs alone do not do. Start with `finding`, then `law_search`.
"""
