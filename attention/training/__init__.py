"""How the project's own models are made: their data and the scripts that train them.

No page needs this, but for the training that can be watched, which a server starts in a process of its own.
"""
