"""A kind of input is one object, of one piece."""

import pytest

from attention.answer.fields import FIELDS
from attention.core import masks, reading
from attention.lesson.prose import lessons

KINDS = [reading.TEXT, reading.FRENCH, reading.PICTURE]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_a_kind_names_is_there(kind):
    assert kind.field in FIELDS
    assert set(kind.masks) <= set(masks.MASK_NAMES)
    assert "none" in kind.masks
    for names in kind.variants.items():
        assert set(names) <= set(lessons())
    assert len(set(kind.examples)) == len(kind.examples) > 1
    assert not any(map(kind.is_empty, kind.examples))
    assert kind.is_empty("")
    assert kind.is_empty(kind.blank)


def test_lessons_of_a_kind_are_those_of_text_but_for_its_own():
    assert [kind.lesson("explain/words") for kind in KINDS] == [*["explain/words"] * 2, "explain/words-picture"]


def test_a_picture_is_recognised_and_everything_else_is_text():
    assert [reading.recognised(text) for text in ("The cat", *reading.DIGITS)][:2] == [reading.TEXT, reading.PICTURE]
    assert not reading.recognised("0" * 63).is_same(reading.PICTURE)
    assert reading.recognised("0" * 63 + "h").is_same(reading.TEXT)


def test_the_word_in_focus_first_is_told_by_the_record_of_a_text_and_the_whole_of_a_picture():
    assert [kind.first_focus for kind in KINDS[:2]] == [None, None]
    assert reading.PICTURE.first_focus([1, 2, 3, 5]) == 0
