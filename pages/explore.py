"""Explore: the pages on heads, sentences and models."""

from attention.app import app
from attention.page.pages import EXPLORE

app.show(EXPLORE)
