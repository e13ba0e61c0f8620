"""Many sentences: what every head does on average over a corpus, the bundled one or the user's own."""

from attention.pages import MANY_SENTENCES
from attention.ui import frame

frame.show(MANY_SENTENCES, with_beside=False, with_mask=False, with_word=False, with_parts=False)
