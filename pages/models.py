"""Models: what is available, where it is stored, and how to get more."""

from attention.app import app
from attention.page.pages import MODELS

app.show(MODELS)
