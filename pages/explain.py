"""Does attention explain? What changes when heads are off, words blotted out or weights shuffled."""

from attention.labs import explain
from attention.pages import OF_LABS
from attention.ui import frame

frame.show(OF_LABS[explain.LAB], with_beside=False, with_mask=False)
