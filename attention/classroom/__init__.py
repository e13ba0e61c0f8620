"""A class: one view that many screens follow, questions that they answer, and what is kept of that for a day."""
