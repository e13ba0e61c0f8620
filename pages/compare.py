"""Compare: two sentences in one head, or two models on one sentence, and the difference."""

from attention.pages import COMPARE
from attention.ui import app

app.show(COMPARE)
