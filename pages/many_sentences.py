"""Many sentences: what every head does on average over a corpus, the bundled one or the user's own."""

from attention.pages import MANY_SENTENCES
from attention.ui import corpus_frame, state, study_page

study_page.show(corpus_frame.begin(MANY_SENTENCES))
state.close_page()
