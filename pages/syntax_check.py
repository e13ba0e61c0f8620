"""Syntax check: which head finds the grammatical head of a word, and how often."""

from attention.pages import SYNTAX_CHECK
from attention.ui import frame

frame.show(
    SYNTAX_CHECK,
    with_beside=False,
    with_mask=False,
    with_word=False,
    with_layer=False,
    with_head=False,
    with_parts=False,
)
