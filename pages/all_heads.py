"""All heads: every head of every layer on the sentence, and what it does."""

from attention.app import app
from attention.page.pages import ALL_HEADS

app.show(ALL_HEADS)
