"""What it costs: time and memory of attention against length, measured here and on paper."""

from attention.labs import cost
from attention.pages import OF_LABS
from attention.ui import frame

frame.show(OF_LABS[cost.LAB], with_beside=False, with_mask=False)
