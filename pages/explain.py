"""Does attention explain? Heads ablated, words occluded, weights shuffled."""

from attention.app import app
from attention.page.labs import explain
from attention.page.pages import OF_LABS

app.show(OF_LABS[explain.LAB])
