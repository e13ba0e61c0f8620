"""Things to find: a rule, and the verdict on the view that is brought along."""

from attention.pages import FIND_IT
from attention.ui import frame

frame.show(
    FIND_IT, with_beside=False, with_mask=False, with_word=False, with_layer=False, with_head=False, with_parts=False
)
