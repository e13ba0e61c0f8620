"""Compare: two sentences in one head, or two models on one sentence."""

from attention.app import app
from attention.page.pages import COMPARE

app.show(COMPARE)
