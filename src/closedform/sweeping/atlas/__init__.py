"""The atlas: what networks have learned, looked up by formula.

`census` reads all neurons of a network through a sweep, into a store that may hold many networks.
`concept_key` and `probe_points` describe a formula so that every invertible function of it, with
its inputs renamed, is described alike; `concept_index` keeps these descriptions of a store, and
`finding` searches them. `site` writes it all as pages that need no server. Start with `finding`.
"""
