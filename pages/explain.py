"""Does attention explain? What changes when heads are off, words blotted out or weights shuffled."""

from attention.labs import explain
from attention.pages import OF_LABS
from attention.ui import app

app.show(OF_LABS[explain.LAB])
