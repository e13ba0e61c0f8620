"""The vector moves: how a word's vector changes, by what other words send it, head by head and layer by layer."""

from attention.app import app
from attention.page.labs import vector_moves
from attention.page.pages import OF_LABS

app.show(OF_LABS[vector_moves.LAB])
