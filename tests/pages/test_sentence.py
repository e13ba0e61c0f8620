"""The sentence above every step: its arcs are the head's weights, its numbers those of the step."""

import numpy as np
import pytest

from attention.figures.format import number
from attention.lesson import steps
from tests import loaded

TEXT = "My neighbour fed the stray dog because she pitied it"
MATRICES = {
    "scores": lambda head: head.scores,
    "scale": lambda head: head.scaled_scores,
    "mask": lambda head: head.masked_scores,
}


@pytest.mark.parametrize("step", steps.keys())
def test_it_has_the_row_of_the_word_in_focus_and_the_numbers_of_the_step(open_page, step):
    shown = open_page(text=TEXT, model="minilm-l6", step=step, layer="3", head="4", word="9", mask="causal")
    trace = loaded.load("minilm-l6").trace(TEXT, mask="causal")
    head, data = trace.layers[2].head(3), shown.component("sentence")
    assert [word["text"] for word in data["words"]] == [token.text for token in trace.tokens]
    assert list(data["rows"]) == ["9"]
    sent, written = zip(*data["rows"]["9"], strict=True)
    np.testing.assert_allclose(sent, head.weights[9], atol=5e-5)
    if step in MATRICES:
        assert list(written) == [number(float(value)) for value in MATRICES[step](head)[9]]
    elif step == "tokens":
        assert list(written) == [str(token.token_id) for token in trace.tokens]
    else:
        assert list(written) == [number(w) if w >= 0.005 else "" for w in map(float, head.weights[9])]


def test_a_word_of_it_can_be_chosen_and_a_number_of_the_step_opened(open_page):
    shown = open_page(text=TEXT, model="minilm-l6", step="scores", word="9")
    shown.send("sentence", "choose", 6)
    assert (shown.query["word"], shown.component("sentence")["focus"]) == ("6", 6)
    shown.send("sentence", "open", [6, 3])
    assert (shown.query["word"], shown.query["cell"]) == ("6", "scores-6-3")
    # Before there are scores, no number of it is a cell.
    there = open_page(text=TEXT, model="minilm-l6", step="embed", word="9")
    there.send("sentence", "open", [6, 3])
    assert there.query["word"] == "9"
    assert "cell" not in there.query


def test_across_two_texts_the_word_stands_before_those_that_it_attends_to(open_page):
    shown = open_page(
        text="le chat dort", model="translator-fr-en", part="cross", step="softmax", word="1", layer="2", head="3"
    )
    trace = loaded.load("translator-fr-en").trace("le chat dort").part("cross")
    data = shown.component("sentence")
    shown_words = [word["text"] for word in data["words"]]
    assert shown_words == [trace.tokens[1].text, *(token.text for token in trace.key_tokens)]
    sent = [weight for weight, _ in data["rows"]["0"]]
    np.testing.assert_allclose(sent, [0, *trace.layers[1].head(2).weights[1]], atol=5e-5)


def test_a_picture_that_is_read_has_no_sentence(open_page):
    assert "sentence" not in open_page(model="vit-digits", step="softmax").components()
