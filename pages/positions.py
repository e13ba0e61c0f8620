"""Where am I: what attention does without positions, and how a model is told the order of the words."""

from attention.labs import positions
from attention.pages import OF_LABS
from attention.ui import frame

frame.show(OF_LABS[positions.LAB], with_beside=False, with_mask=False)
