"""Which of several theories a network follows, by how much, and where each fails.

`theory` is a formula with free constants or a function of the inputs; `weighed_theories` fits them
and what may correct them, and weighs all on unseen points; `telling` finds where each fails, and
`outcome` is the answer. Start with `contest_stage`.
"""
