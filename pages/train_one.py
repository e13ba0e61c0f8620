"""Train one and watch: two small networks learn, and one of them learns to look back."""

from attention.labs import train_one
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[train_one.LAB])
