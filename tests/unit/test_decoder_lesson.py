"""Texts about a decoder: rotated queries, shared keys and values, its causal mask, and the next token."""

import re
from dataclasses import replace

import numpy as np
import pytest

from attention.lesson.head_context import HeadContext
from attention.lesson.heads import head_thumbs
from attention.lesson.next_token import forecast, last_row, lens_table, tell_lens, tell_next, tell_source
from attention.lesson.next_token import formula as next_formula
from attention.lesson.steps import step_of
from attention.models import load
from attention.models.base import NextToken
from tests.unit.saying import plain, says, tells

TEXT = "The cat sat on the mat"


@pytest.fixture(scope="module")
def trace(smollm2):
    return smollm2.trace(TEXT)


def test_the_angles_that_are_told_are_position_times_theta(trace):
    told = plain(step_of("qkv").words(HeadContext(trace, 13, 8, 5)))
    # The base is 100,000, and 64 numbers make 32 pairs.
    fastest, slowest = np.degrees(5), np.degrees(5 * 100_000 ** (-62 / 64))
    assert says(told, f"{fastest:.2f}", f"{slowest:.4f}")
    first = plain(step_of("qkv").words(HeadContext(trace, 13, 8, 0)))
    assert says(first, "0.00")


def test_a_lone_token_is_told_too(smollm2):
    scene = HeadContext(smollm2.trace("cat"), 0, 0, 0)
    for step in ("tokens", "embed", "qkv", "mask", "heads"):
        assert "nan" not in step_of(step).words(scene)


@pytest.mark.parametrize(("head", "first", "last", "group"), [(0, 1, 3, 1), (2, 1, 3, 1), (3, 4, 6, 2), (8, 7, 9, 3)])
def test_who_shares_keys_and_values_is_told(trace, head, first, last, group):
    told = plain(step_of("qkv").words(HeadContext(trace, 2, head, 1)))
    assert says(told, first, last, group)
    # Those heads have the same keys, and the next group has others.
    layer = trace.layers[2]
    assert np.array_equal(layer.head(first - 1).keys, layer.head(last - 1).keys)
    assert not np.array_equal(layer.head(head).keys, layer.head((head + 3) % 9).keys)


def test_the_small_pictures_stand_in_groups_only_where_heads_share(trace):
    groups = [thumb.group for thumb in head_thumbs(HeadContext(trace, 0, 0, 0))]
    assert len(groups) == 9
    assert all(says(group, 1 + head // 3, "3") for head, group in enumerate(groups))
    assert {thumb.group for thumb in head_thumbs(HeadContext(load("toy").trace(TEXT), 0, 0, 0))} == {""}


def test_the_mask_is_said_to_be_the_models_own(smollm2, trace):
    told = plain(step_of("mask").words(HeadContext(trace, 0, 0, 2)))
    assert "3 of 6 tokens" in told
    padded = plain(step_of("mask").words(HeadContext(smollm2.trace(TEXT, mask="padding"), 0, 0, 2)))
    assert "<|im_end|>" in padded
    assert "3 of 9 tokens" in padded


def test_formulas_say_what_this_model_does(trace):
    scene = HeadContext(trace, 0, 0, 0)
    assert step_of("embed").formula(scene) == r"X = \mathrm{RMSNorm}(E_{\text{word}})"
    assert step_of("embed").formula(replace(scene, layer=4)) == r"X = \mathrm{RMSNorm}(\text{layer 4})"
    assert step_of("qkv").formula(scene).count(r"\mathrm{turn}") == 2
    assert "b_O" not in step_of("heads").formula(scene)
    # Nor does the toy, which adds a bias to its queries alone.
    assert "b_O" not in step_of("heads").formula(HeadContext(load("toy").trace(TEXT), 0, 0, 0))


def test_a_deeper_layer_shows_the_stream_beside_what_its_norm_makes_of_it(trace):
    pictures = {picture.name: picture.values for picture in step_of("embed").matrices(HeadContext(trace, 7, 0, 0))}
    assert list(pictures) == ["inputs", "stream"]
    np.testing.assert_array_equal(pictures["stream"], trace.hidden_states[7])
    first = {picture.name: picture.values for picture in step_of("embed").matrices(HeadContext(trace, 0, 0, 0))}
    assert list(first) == ["inputs", "words"]
    np.testing.assert_array_equal(first["words"], trace.hidden_states[0])


def test_a_space_and_a_byte_are_explained_where_they_are_and_only_there(smollm2):
    assert tells(plain(step_of("tokens").words(HeadContext(smollm2.trace("the cat"), 0, 0, 0))), "tokens/space")
    assert not tells(plain(step_of("tokens").words(HeadContext(smollm2.trace("cat"), 0, 0, 0))), "tokens/space")
    # The character is two bytes long, or four, and the token that is named is one of this very text.
    for text in ("hi 😀", "Кошка ѫ", "猫坐在垫子上吗"):
        scene = HeadContext(smollm2.trace(text), 0, 0, 0)
        (named,) = re.findall(r"A token such as “(\S+)” is one or more bytes", plain(step_of("tokens").words(scene)))
        assert named in {token.text for token in scene.tokens}
        assert r"\x" in named
    assert "##" not in plain(step_of("tokens").words(HeadContext(smollm2.trace("a tokenizer"), 0, 0, 0)))


# What comes next, by hand: three layers, a vocabulary of four

LABELS, TEXTS = ("␣a", "b", "↵", "<end>"), (" a", "b", "\n", None)
LOGITS = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.1, 0.1], [0.2, 0.6, 0.1, 0.1], [0.1, 0.7, 0.15, 0.05]]))


@pytest.fixture
def found():
    return forecast(NextToken(LOGITS, LABELS, TEXTS), "x")


def test_candidates_are_sorted_by_their_probability_after_the_last_layer(found):
    assert [candidate.label for candidate in found.candidates] == ["b", "↵", "␣a", "<end>"]
    assert [candidate.probability for candidate in found.candidates] == pytest.approx([0.7, 0.15, 0.1, 0.05])
    # A special token cannot be added to a sentence; a line break can.
    assert [candidate.text for candidate in found.candidates] == ["b", "\n", " a", None]


def test_each_layer_has_its_first_guess_and_how_the_answer_does(found):
    assert [guess.label for guess in found.layers] == ["<end>", "␣a", "b", "b"]
    assert [guess.probability for guess in found.layers] == pytest.approx([0.4, 0.5, 0.6, 0.7])
    assert [guess.answer_probability for guess in found.layers] == pytest.approx([0.2, 0.3, 0.6, 0.7])
    assert [guess.answer_rank for guess in found.layers] == [3, 2, 1, 1]
    assert found.since == 2
    assert says(plain(tell_lens(found)), "b", "2")


def test_what_is_first_from_the_embedding_on_is_first_of_no_layer():
    told = plain(tell_lens(forecast(NextToken(LOGITS[2:], LABELS, TEXTS), "x")))
    assert "“b” ranks first from layer 0 (embedding) on" in told


def test_the_table_has_a_row_for_each_layer_the_last_one_first(found):
    table = lens_table(found)
    assert table["after layer"] == ["3", "2", "1", "0 (embedding)"]
    assert table["first"] == ["b", "b", "␣a", "<end>"]
    assert table["rank of b"] == ["1", "1", "2", "3"]


def test_what_is_told_of_the_next_token_is_the_forecast(smollm2):
    trace = smollm2.trace("The capital of France is", mask="padding")
    made = forecast(smollm2.next_token(trace), trace.text)
    # Padding has rows, too, but nothing is read from them.
    assert says(plain(tell_source(made, trace)), "␣is", "49,152 tokens")
    assert trace.tokens[last_row(trace)].text == "␣is"
    assert says(plain(tell_next(made, trace)), "␣Paris", f"{made.candidates[0].probability:.2f}")
    assert len(made.candidates) == 10
    assert len(made.layers) == 31


def test_the_final_norm_is_named_as_it_is(model_of):
    for kind, name in (("llama", "RMSNorm"), ("gpt2", "LayerNorm")):
        trace = model_of(kind).trace(TEXT)
        assert name in next_formula(trace)
        assert f"one more {name}" in plain(tell_source(forecast(model_of(kind).next_token(trace), trace.text), trace))
