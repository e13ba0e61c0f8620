"""The front door: what this is, a live first heatmap, and the way in."""

from attention.ui import front, state

front.show()
state.close_page()
