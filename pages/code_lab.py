"""Code lab: the same attention, written five ways, on the typed sentence."""

from attention.ui import five_ways_page, frame, state

view = frame.begin("Code lab")
panes = frame.open_panes(frame.alone(view))
frame.controls(view, panes, with_beside=False, with_word=False)
for pane in panes:
    five_ways_page.show(pane)
frame.finish(panes)
state.close_page()
