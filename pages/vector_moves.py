"""The vector moves: how a word's vector changes, by what other words send it, head by head and layer by layer."""

from attention.labs import vector_moves
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[vector_moves.LAB])
