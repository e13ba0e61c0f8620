"""Models: all available models, where they are now, and how to get more."""

from attention.pages import MODELS
from attention.ui import app

app.show(MODELS)
