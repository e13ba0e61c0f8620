"""Masks: what a head does when words are hidden from it."""

from attention.app import app
from attention.page.labs import masks
from attention.page.pages import OF_LABS

app.show(OF_LABS[masks.LAB])
