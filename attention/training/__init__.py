"""The data and scripts that train the bundled models, and training runs that the pages show live.

A server starts each live run in a process of its own.
"""
