"""What is computed for the labs and over many texts: it knows no page."""
