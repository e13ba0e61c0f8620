"""Models: all available models, where they are now, and how to get more."""

from attention.app import app
from attention.page.pages import MODELS

app.show(MODELS)
