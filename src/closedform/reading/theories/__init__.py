"""Which of several theories a network follows, by how much, and where each fails.

`theory` is a formula with free constants or a function of the inputs; `fitted_theories` fits them
and what may correct them; `contest_stage` weighs all on unseen points with what the judge offers;
`failing_region` says where one fails, and `outcome` is the answer. Start with `contest_stage`.
"""
