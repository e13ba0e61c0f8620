"""Train one and watch: two small networks, one of which learns to look back."""

from attention.app import app
from attention.page.labs import train_one
from attention.page.pages import OF_LABS

app.show(OF_LABS[train_one.LAB])
