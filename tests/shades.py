"""Decode shades as browsers do."""

import string

import numpy as np

LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def shown(written, limit, *, is_signed):
    """The numbers as a browser draws them from shades."""
    shade = np.array([LETTERS.index(letter) for letter in written], float)
    about = limit * ((shade - 31) / 29 if is_signed else (shade - 1) / 48)
    return np.select([shade == 0, shade == 63], [-np.inf, np.nan], about)
