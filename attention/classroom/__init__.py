"""A class: a view that many screens follow, and questions; everything is kept for a day."""
