"""Compare: two sentences in one head, or two models on one sentence, and the difference."""

from attention.pages import COMPARE
from attention.ui import compare_page, frame, state

view = frame.begin(COMPARE, second_field=compare_page.second_field, opening=compare_page.opening)
panes = compare_page.open_panes(view)
frame.controls(view, panes, with_beside=False, with_word=False, with_parts=False)
compare_page.show(view, panes)
frame.finish(panes)
state.close_page()
