"""A class: how to open a room, and three lessons with their views, ready to be shown."""

from attention.pages import CLASSROOM
from attention.ui import frame

frame.show(
    CLASSROOM, with_beside=False, with_mask=False, with_word=False, with_layer=False, with_head=False, with_parts=False
)
