"""What a page shows: a link to a view, and a view with its runs to blocks."""
