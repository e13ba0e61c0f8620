"""Classroom: how to open a room, and three lessons with their views."""

from attention.app import app
from attention.page.pages import CLASSROOM

app.show(CLASSROOM)
