"""The equation of attention: its steps, the trace of a run, and their building blocks."""
