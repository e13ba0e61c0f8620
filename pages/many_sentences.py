"""Many sentences: what every head does on average over a corpus, the bundled one or the user's own."""

from attention.pages import MANY_SENTENCES
from attention.ui import app

app.show(MANY_SENTENCES)
