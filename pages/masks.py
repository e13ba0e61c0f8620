"""Masks: what a head does when other words are hidden from it."""

from attention.labs import masks
from attention.pages import OF_LABS
from attention.ui import frame

frame.show(OF_LABS[masks.LAB], with_beside=False, with_mask=False)
