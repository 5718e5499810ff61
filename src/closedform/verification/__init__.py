"""Evidence about a formula, and the verdict that follows from it: directions are judged on points
that neither search nor choice has seen, those of a stated formula on all points.
"""
