"""Models: all available models, where they are now, and how to get more."""

from attention.pages import MODELS
from attention.ui import frame

frame.show(
    MODELS, with_beside=False, with_mask=False, with_word=False, with_layer=False, with_head=False, with_parts=False
)
