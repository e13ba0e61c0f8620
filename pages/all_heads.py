"""All heads: every head of every layer on the typed sentence, and what each one does."""

from attention.pages import ALL_HEADS
from attention.settings import BESIDE
from attention.ui import frame, heads_page, outcome, state

view = frame.begin(ALL_HEADS, second_field=frame.pair_field).without(BESIDE)
panes = frame.open_panes(view)
frame.controls(view, panes, with_beside=False)
outcome.show(view, panes)
heads_page.look_choices(view, panes)
for pane in panes:
    heads_page.show(view, pane)
outcome.alignment(panes)
frame.finish(panes)
state.close_page()
