"""One head or many: what each head sees if the same width is cut into another number of heads."""

from attention.labs import one_or_many
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[one_or_many.LAB])
