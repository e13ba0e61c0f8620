"""Models: all available models, where they are now, and how to get more."""

from attention.ui import models_page, state

models_page.show()
state.close_page()
