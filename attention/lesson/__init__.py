"""What is taught at each step: the words, the pictures and the tables, all computed from a trace."""
