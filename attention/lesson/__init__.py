"""What is taught at each step: texts, pictures and tables, all computed from a trace."""
