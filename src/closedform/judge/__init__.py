"""Judge: which formula, and how sure.

In come what a search found and the field; out come the chosen formula and its verdict. Two
witnesses are heard (`witnesses`): the angle between directions, and what a smooth phi of the
formula leaves of the latent's values. `pool` gathers everything that may become the answer,
`evidence` weighs it in nats, `rules` chooses, `judgement` says how sure that is on points that
nobody has seen. Start with `select_stage` and `verify_stage`.
"""
