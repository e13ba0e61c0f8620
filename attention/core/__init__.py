"""The equation of attention and its record: the steps, the trace of a run, and what both are made of."""
