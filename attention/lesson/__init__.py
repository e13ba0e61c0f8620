"""Lessons for each step: texts, pictures and tables, all computed from a trace."""
