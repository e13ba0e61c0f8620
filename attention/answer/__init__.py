"""One request: a link and its presses, run and answered with the page that follows, as plain data."""
