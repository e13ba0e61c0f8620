"""One request: a link and the presses on its page, answered with the next page as plain data."""
