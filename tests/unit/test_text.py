import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import text

# characters(), unlike text(), draws lone surrogates too.
anything = st.text(st.characters())


@given(anything)
def test_what_is_cleaned_is_one_trimmed_line_that_can_be_encoded(typed):
    cleaned = text.clean(typed)
    cleaned.encode()
    assert cleaned.splitlines() in ([], [cleaned])
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in cleaned)


@given(anything)
def test_cleaning_twice_changes_nothing_more(typed):
    assert text.clean(text.clean(typed)) == text.clean(typed)


@given(anything)
def test_what_is_typed_is_kept_but_for_what_is_no_text(typed):
    kept = text.as_typed(typed)
    kept.encode()
    assert text.as_typed(kept) == kept
    assert not text.is_altered(kept)
    assert text.clean(kept) == text.clean(typed)
    assert kept == "" or not kept.isspace()


@given(st.text(st.sampled_from("ab \n\t漢\u00a0"), min_size=1))
def test_all_white_space_is_kept(typed):
    assert text.as_typed(f"x{typed}") == f"x{typed}"


@given(st.lists(st.text(st.characters(categories=["L", "M", "N", "P", "S"]), min_size=1)))
def test_words_of_every_script_stay_as_they_are(words):
    assert text.clean(" ".join(words)) == " ".join(words)


@pytest.mark.parametrize(
    ("typed", "cleaned"),
    [
        ("  The\tcat\r\nsat\u2028on\u00a0the\x00mat ", "The cat sat on the mat"),
        ("a\ud800b", "a\ufffdb"),
        ("👩\u200d👩\u200d👧 ok", "👩\u200d👩\u200d👧 ok"),
        ("abc\u202edef \u2066 x", "abcdef x"),
        ("\u202e \x07 \n", ""),
    ],
)
def test_cleaning_by_hand(typed, cleaned):
    assert text.clean(typed) == cleaned


@given(st.integers(0, 10), st.integers(0, 10))
def test_shortening_says_whether_it_cut(spaces, more):
    words = "x" * (text.MAX_CHARACTERS - spaces) + " " * spaces + "y" * more
    shortened, was_cut = text.shorten(words)
    assert words.startswith(shortened)
    assert len(shortened) <= text.MAX_CHARACTERS
    assert was_cut == (more > 0)
    assert (shortened == shortened.rstrip()) if was_cut else (shortened == words)


def test_a_long_text_is_cut_between_words_where_there_is_a_border():
    words = "attention " * 300
    shortened, was_cut = text.shorten(words.strip())
    assert was_cut
    assert set(shortened.split(" ")) == {"attention"}
    assert text.MAX_CHARACTERS - len("attention ") < len(shortened) <= text.MAX_CHARACTERS
    # A word that no cut would save is cut itself.
    assert len(text.shorten("a " + "x" * text.MAX_CHARACTERS)[0]) == text.MAX_CHARACTERS


@given(st.lists(st.text("ab’😀", min_size=1, max_size=50), min_size=1).map(" ".join))
def test_where_a_text_is_cut_is_told_by_its_last_whole_words(typed):
    told = text.last_words(typed)
    tail = told.lstrip("… ")
    assert typed.endswith(tail)
    assert 0 < len(tail) <= text.MAX_ENDING
    assert told.startswith("…") == (tail != typed)
    words, fits = typed.split(" "), []
    while words and len(" ".join([words[-1], *fits])) <= text.MAX_ENDING:
        fits.insert(0, words.pop())
    assert tail == " ".join(fits) if fits else tail == typed[-text.MAX_ENDING :]
