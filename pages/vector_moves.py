"""The vector moves: how other words change a word's vector, head by head and layer by layer."""

from attention.app import app
from attention.page.labs import vector_moves
from attention.page.pages import OF_LABS

app.show(OF_LABS[vector_moves.LAB])
