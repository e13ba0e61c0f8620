"""Why divide by √d_k: on random vectors of any width, and in a head of a model."""

from attention.labs import why_divide
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[why_divide.LAB])
