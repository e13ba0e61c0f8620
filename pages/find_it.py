"""Things to find: a rule, and the verdict on the view that is brought along."""

from attention.pages import FIND_IT
from attention.ui import app

app.show(FIND_IT)
