import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import pixels


@given(text=st.text(alphabet=pixels.GREYS, min_size=64, max_size=64))
def test_a_picture_is_written_as_it_was_read(text):
    assert pixels.write(pixels.parse(text)) == text


def test_characters_are_grey_levels_row_by_row():
    levels = pixels.parse("0123456789abcdefg" + "0" * 47)
    assert levels.shape == (8, 8)
    assert levels.dtype == np.float32
    assert levels.ravel()[:17].tolist() == list(range(17))
    assert levels[1, 2] == 10


@pytest.mark.parametrize(
    ("text", "match"), [("", "64 characters.*has 0"), ("0" * 65, "has 65"), ("0" * 63 + "h", "'h' is none")]
)
def test_what_is_no_picture_is_an_error_that_says_so(text, match):
    with pytest.raises(ValueError, match=match):
        pixels.parse(text)


@pytest.mark.parametrize(
    ("levels", "match"),
    [(np.zeros((4, 16)), r"\(4, 16\)"), (np.full((8, 8), 17), "17"), (np.full((8, 8), np.nan), "between 0 and 16")],
)
def test_what_cannot_be_written_is_an_error_that_says_so(levels, match):
    with pytest.raises(ValueError, match=match):
        pixels.write(levels)
