"""What a page shows, in other forms: a notebook, a worksheet, a file."""
