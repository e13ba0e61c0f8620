"""All labs: what each one asks, and how long it takes."""

from attention.app import app
from attention.page.pages import LABS_PAGE

app.show(LABS_PAGE)
