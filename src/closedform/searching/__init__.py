"""Search: engines that look for the expressions whose gradients point the field's way.

In come a field, a space of formulas and a budget, out comes a front: the best formula of each
complexity. `portfolio` is the engine `auto`, which runs the three others: `structure_search` merges
inputs that enter together, `terms` solves for sums of known terms, `evolution` breeds. Start with
`search_stage`, then `portfolio`.
"""
