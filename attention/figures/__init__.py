"""Pictures as data: pure functions from arrays to the JSON payloads that components draw."""
