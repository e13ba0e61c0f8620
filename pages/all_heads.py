"""All heads: every head of every layer on the typed sentence, and what each one does."""

from attention.app import app
from attention.page.pages import ALL_HEADS

app.show(ALL_HEADS)
