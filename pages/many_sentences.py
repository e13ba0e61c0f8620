"""Many sentences: what every head does on average over a corpus, bundled or uploaded."""

from attention.app import app
from attention.page.pages import MANY_SENTENCES

app.show(MANY_SENTENCES)
