"""Places in pictures as sent by browsers."""

import pytest

from attention.classroom.pointing import read


@pytest.mark.parametrize("at", [[0], [3, 11]])
def test_a_place_is_a_picture_and_one_or_two_numbers(at):
    place = {"view": "a1", "picture": "weights_1-a", "at": at}
    assert read({"point": {**place, "text": "<b>"}}) == place


def test_nothing_is_pointed_at_only_where_that_is_said():
    assert read({"point": None}) is None
    with pytest.raises(ValueError, match="point"):
        read({})


@pytest.mark.parametrize("of", ["view", "picture"])
@pytest.mark.parametrize("name", ["", "a" * 81, "<b>", "scores\n", "é", 3, None, ["scores"]])
def test_a_view_and_a_picture_have_short_plain_names(of, name):
    with pytest.raises(ValueError, match="place"):
        read({"point": {"view": "a1", "picture": "scores", "at": [1], of: name}})


@pytest.mark.parametrize("at", [[], [1, 2, 3], [-1], [2**24], [1.0], [True], ["1"], [[1]], {"0": 1}, "1", 1, None])
def test_a_place_has_no_other_numbers(at):
    with pytest.raises(ValueError, match="place"):
        read({"point": {"view": "a1", "picture": "scores", "at": at}})


@pytest.mark.parametrize("said", [[], "scores", 3, True, {}])
def test_a_place_is_a_picture_with_numbers(said):
    with pytest.raises(ValueError, match="place"):
        read({"point": said})
