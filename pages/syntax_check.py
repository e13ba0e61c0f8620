"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.ui import corpus_frame, state, syntax_page

syntax_page.show(corpus_frame.begin("Syntax check"))
state.close_page()
