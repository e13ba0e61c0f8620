"""Things to find: tasks, and the verdict on a view."""

from attention.app import app
from attention.page.pages import FIND_IT

app.show(FIND_IT)
