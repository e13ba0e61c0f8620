"""Models: all that there are, where they are now, and the way to more of them."""

from attention.ui import models_page

models_page.show()
