"""Why divide by √d_k: random vectors of any width, and a head of a model."""

from attention.app import app
from attention.page.labs import why_divide
from attention.page.pages import OF_LABS

app.show(OF_LABS[why_divide.LAB])
