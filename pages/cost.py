"""What it costs: time and memory of attention against length, measured here and on paper."""

from attention.app import app
from attention.page.labs import cost
from attention.page.pages import OF_LABS

app.show(OF_LABS[cost.LAB])
