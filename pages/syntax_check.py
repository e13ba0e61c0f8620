"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.ui import corpus_frame, syntax_page

syntax_page.show(corpus_frame.begin("Syntax check"))
