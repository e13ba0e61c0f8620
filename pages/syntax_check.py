"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.app import app
from attention.page.pages import SYNTAX_CHECK

app.show(SYNTAX_CHECK)
