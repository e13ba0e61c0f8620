"""A class: how to open a room, and three lessons with their views, ready to be shown."""

from attention.pages import CLASSROOM
from attention.ui import app

app.show(CLASSROOM)
