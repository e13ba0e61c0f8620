"""Many sentences: what every head does on average over a corpus, the bundled one or the user's own."""

from attention.app import app
from attention.page.pages import MANY_SENTENCES

app.show(MANY_SENTENCES)
