"""Code lab: the same attention, written five ways, on the typed sentence."""

from attention.pages import CODE_LAB
from attention.ui import five_ways_page, frame, state

view = frame.begin(CODE_LAB)
panes = frame.open_panes(frame.alone(view))
frame.controls(view, panes, with_beside=False, with_word=False)
for pane in panes:
    five_ways_page.show(view, pane)
frame.finish(panes)
state.close_page()
