import string

from hypothesis import given
from hypothesis import strategies as st

from attention.classroom.codes import ALPHABET, LENGTH, digest, fits, new_code, new_key, read_code


@given(
    st.text(ALPHABET, min_size=LENGTH, max_size=LENGTH), st.integers(0, LENGTH), st.sampled_from([" ", "-", "\u00a0"])
)
def test_a_code_is_read_however_it_is_typed(code, place, gap):
    assert read_code(f" {code[:place]}{gap}{code[place:]} ".lower()) == code


@given(st.text())
def test_whatever_is_typed_is_a_code_or_none(typed):
    code = read_code(typed)
    assert code is None or (len(code) == LENGTH and set(code) <= set(ALPHABET))


def test_no_letter_of_a_code_can_be_taken_for_another_character():
    assert set(ALPHABET).isdisjoint("AEIOU01L")
    assert set(ALPHABET) < set(string.ascii_uppercase)
    # Of so many, two are the same once in a thousand times, and three hardly ever.
    assert len({new_code() for _ in range(200)}) >= 198


def test_what_is_kept_of_a_key_tells_it_from_others_and_is_no_key():
    key, other = new_key(), new_key()
    assert fits(key, digest(key))
    assert not fits(other, digest(key))
    assert not fits(digest(key), digest(key))
