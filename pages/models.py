"""Models: all that there are, where they are now, and the way to more of them."""

from attention.ui import models_page, state

models_page.show()
state.close_page()
