"""Pictures as data: pure functions from arrays to the data of a component."""
