"""Code lab: the same attention written in five ways, on the typed sentence."""

from attention.pages import CODE_LAB
from attention.ui import app

app.show(CODE_LAB)
