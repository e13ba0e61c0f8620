"""Step by step: the nine steps of attention on the typed sentence."""

from attention.app import app
from attention.page.pages import STEP_BY_STEP

app.show(STEP_BY_STEP)
