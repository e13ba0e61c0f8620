"""The whole Transformer: one block, all blocks, and two models on one page of NumPy each."""

from attention.labs import whole
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[whole.LAB])
