"""Things to find: a rule, and the verdict on the view that is brought along."""

from attention.app import app
from attention.page.pages import FIND_IT

app.show(FIND_IT)
