"""The commands that this distribution adds to ``closedform``, through the entry points
``closedform.commands``.
"""
