"""Neuron view: how one query meets every key, number by number."""

from attention.pages import NEURON_VIEW
from attention.ui import frame, neuron_page, outcome, state

view = frame.begin(NEURON_VIEW)
panes = frame.open_panes(frame.alone(view))
frame.controls(view, panes, with_beside=False)
outcome.show(view, panes)
for pane in panes:
    neuron_page.show(view, pane)
frame.finish(panes)
state.close_page()
