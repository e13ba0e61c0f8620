"""The whole Transformer: one block, all blocks, and two models, each on a page of NumPy."""

from attention.app import app
from attention.page.labs import whole
from attention.page.pages import OF_LABS

app.show(OF_LABS[whole.LAB])
