"""Where am I: attention without positions, and how a model encodes word order."""

from attention.app import app
from attention.page.labs import positions
from attention.page.pages import OF_LABS

app.show(OF_LABS[positions.LAB])
