"""Neuron view: how one query meets every key, number by number."""

from attention.pages import NEURON_VIEW
from attention.ui import app

app.show(NEURON_VIEW)
