"""Explore: every page on which heads, sentences and models are looked at."""

from attention.app import app
from attention.page.pages import EXPLORE

app.show(EXPLORE)
