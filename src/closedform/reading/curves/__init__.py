"""A curve, values over an index with their errors, read as a formula.

`curve_form` is a formula of the index with numbers, and its fit; `curve_search` proposes forms;
`curve_reading` weighs them as the judge does and says how sure the best is. Start there.
"""
