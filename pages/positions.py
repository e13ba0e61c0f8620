"""Where am I: what attention does without positions, and how a model is told the order of the words."""

from attention.app import app
from attention.page.labs import positions
from attention.page.pages import OF_LABS

app.show(OF_LABS[positions.LAB])
