"""Computations for the labs and over many texts, independent of any page."""
