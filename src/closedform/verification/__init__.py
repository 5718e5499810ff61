"""Evidence about a chosen concept, on points that neither search nor choice has seen, and the
verdict that follows from it.
"""
