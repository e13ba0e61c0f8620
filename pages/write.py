"""Train it on your text: a small Transformer learns to write like a text, and is asked to at every stage."""

from attention.labs import write
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[write.LAB])
