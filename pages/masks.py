"""Masks: what a head does when other words are hidden from it."""

from attention.labs import masks
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[masks.LAB])
