"""Scaled dot-product and multi-head attention, recorded on real models and shown step by step."""

import os

# Read by the libraries under NumPy and torch when they are imported. With threads of their own, people who are
# there at once would wait for one another many times longer than they compute; an owner may say otherwise.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Libraries read from disk and ask nobody, or a missing file would wait 23 seconds for a hub. The one place that
# fetches models, when a person asked for one, has a line of its own: attention.models.hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
