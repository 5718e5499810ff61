"""The engine ``structure``: which inputs enter through which combination, read off partial
gradients.
"""
