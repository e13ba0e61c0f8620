"""Step by step: the nine steps of attention on the typed sentence."""

from attention.pages import STEP_BY_STEP
from attention.ui import app

app.show(STEP_BY_STEP)
