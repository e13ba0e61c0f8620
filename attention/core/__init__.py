"""The equation of attention: its steps, the trace of a run, and what both are made of."""
