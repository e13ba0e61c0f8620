"""Train one and watch: two small networks learn, and one of them learns to look back."""

from attention.app import app
from attention.page.labs import train_one
from attention.page.pages import OF_LABS

app.show(OF_LABS[train_one.LAB])
