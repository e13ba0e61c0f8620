"""Neuron view: how one query meets every key, number by number."""

from attention.pages import NEURON_VIEW
from attention.ui import frame

frame.show(NEURON_VIEW, with_beside=False)
