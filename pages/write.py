"""Train it on your text: a small Transformer learns to write, and is sampled at every stage."""

from attention.app import app
from attention.page.labs import write
from attention.page.pages import OF_LABS

app.show(OF_LABS[write.LAB])
