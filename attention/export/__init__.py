"""Exports of a page: notebook, worksheet and file."""
