"""Neuron view: how one query meets every key, number by number."""

from attention.app import app
from attention.page.pages import NEURON_VIEW

app.show(NEURON_VIEW)
