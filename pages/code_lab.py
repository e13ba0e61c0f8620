"""Code lab: the same attention, written five ways, on the typed sentence."""

from attention.ui import frame, lab_page, state

view = frame.begin("Code lab")
panes = frame.open_panes(frame.alone(view))
frame.controls(view, panes, with_beside=False, with_word=False)
for pane in panes:
    lab_page.show(pane)
frame.finish(panes)
state.close_page()
