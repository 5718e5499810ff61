"""The shipped test kit: what an extension of closedform can check itself with.

`engine_contract` is what every engine must keep, `known_fields` are fields with known answers,
`strategies` draws expressions for Hypothesis.
"""
