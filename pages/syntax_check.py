"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.pages import SYNTAX_CHECK
from attention.ui import app

app.show(SYNTAX_CHECK)
