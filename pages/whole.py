"""The whole Transformer: one block, all blocks, and two models on one page of NumPy each."""

from attention.labs import whole
from attention.pages import OF_LABS
from attention.ui import frame

frame.show(OF_LABS[whole.LAB], with_beside=False, with_mask=False)
