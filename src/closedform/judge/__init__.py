"""Judge: which formula, and how sure.

In come what a search found and the field; out come the chosen formula and its verdict. Two
witnesses are heard (`witnesses`): the angle between directions, and what a smooth phi of the
formula leaves of the latent's values. `pool` gathers everything that may become the answer and
weighs it in nats, `rules` chooses, `confidence` says how sure that is on points that nobody has
seen, and `checks` make it a verdict. Start with `select_stage` and `verify_stage`.
"""
