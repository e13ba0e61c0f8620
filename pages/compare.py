"""Compare: two sentences in one head, or two models on one sentence, and the difference."""

from attention.pages import COMPARE
from attention.ui import compare_page, frame

frame.show(
    COMPARE, second=compare_page.second, with_compared=True, with_beside=False, with_word=False, with_parts=False
)
