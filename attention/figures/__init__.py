"""Pictures as data: pure functions from arrays to the plain data that a component draws."""
