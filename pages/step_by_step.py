"""Step by step: the nine steps of attention on the typed sentence."""

from attention.pages import STEP_BY_STEP
from attention.ui import fields, frame, next_token, outcome, savings, state, step_view

view = frame.begin(STEP_BY_STEP)
above, steps = frame.places("above", "steps_line")
# Before the model runs, which may take a while: whoever knows the way need not wait for it.
with steps:
    step_view.steps_line(view)
with above:
    panes = frame.open_panes(view)
    frame.controls(view, panes)
    outcome.show(view, panes)
step_view.show(view, panes)
step_view.head_grids(view, panes)
outcome.alignment(panes)
fields.show_over([(pane.scene, pane.address) for pane in panes])
savings.show(view, panes)
next_token.show(view, panes)
frame.finish(panes)
state.close_page()
