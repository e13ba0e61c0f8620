"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.pages import SYNTAX_CHECK
from attention.ui import corpus_frame, state, syntax_page

syntax_page.show(corpus_frame.begin(SYNTAX_CHECK))
state.close_page()
