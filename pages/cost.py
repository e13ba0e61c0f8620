"""What it costs: time and memory of attention as the sequence grows, measured and calculated."""

from attention.app import app
from attention.page.labs import cost
from attention.page.pages import OF_LABS

app.show(OF_LABS[cost.LAB])
