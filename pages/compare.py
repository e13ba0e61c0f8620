"""Compare: two sentences in one head, or two models on one sentence, and the difference."""

from attention.pages import COMPARE
from attention.ui import compare_page, frame, state

view = frame.begin(COMPARE, second=compare_page.second, opening=compare_page.opening)
panes = compare_page.open_panes(view)
compare_page.controls(view, panes)
compare_page.show(view, panes)
frame.finish(panes)
state.close_page()
