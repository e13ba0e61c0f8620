"""Where am I: what attention does without positions, and how a model is told the order of the words."""

from attention.labs import positions
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[positions.LAB])
