"""What it costs: time and memory of attention against length, measured here and on paper."""

from attention.labs import cost
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[cost.LAB])
