"""All heads: every head of every layer on the typed sentence, and what each one does."""

from attention.pages import ALL_HEADS
from attention.ui import app

app.show(ALL_HEADS)
