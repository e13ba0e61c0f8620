"""Code lab: the same attention written in five ways, on the typed sentence."""

from attention.app import app
from attention.page.pages import CODE_LAB

app.show(CODE_LAB)
