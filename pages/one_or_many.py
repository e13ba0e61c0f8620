"""One head or many: the same width divided into different numbers of heads."""

from attention.app import app
from attention.page.labs import one_or_many
from attention.page.pages import OF_LABS

app.show(OF_LABS[one_or_many.LAB])
