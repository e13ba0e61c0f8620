"""Code lab: the same attention written in five ways, on the typed sentence."""

from attention.pages import CODE_LAB
from attention.ui import frame

frame.show(CODE_LAB, with_beside=False, with_word=False)
