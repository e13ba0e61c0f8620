"""Pages with the models trained here: the translator's three uses of attention, and pictures instead of sentences."""

import base64
import re

import numpy as np
import pytest

from attention.core import reading
from attention.core.reading import DIGITS, PICTURE
from attention.core.trace import PARTS
from attention.lesson.steps import keys
from tests.loaded import load

MODEL, VIT = "translator-fr-en", "vit-digits"
FRENCH, ENGLISH = "le chat noir dort", "the black cat sleeps"
# The matrices of each step by what their rows and their columns are: those who look, and those who are looked at.
LOOKING = {
    "scores": ["scores"],
    "scale": ["scaled"],
    "mask": ["masked"],
    "softmax": ["weights"],
}


@pytest.fixture(scope="module")
def trace():
    return load(MODEL).trace(FRENCH)


@pytest.fixture(scope="module")
def digits():
    return load(VIT)


def names(tokens):
    return [token.text for token in tokens]


def numbers(drawn):
    """The numbers of a matrix as the browser gets them."""
    return np.frombuffer(base64.b64decode(drawn["values"]), "<f4").reshape(len(drawn["rows"]), len(drawn["columns"]))


def assert_is_well(shown):
    assert shown.notices == []
    assert [proof.startswith("✓") for proof in shown.proofs] == [True]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("step", keys())
def test_every_step_shows_those_who_look_and_those_who_are_looked_at(open_page, trace, part, step):
    shown = open_page(model=MODEL, text=FRENCH, part=part, step=step, layer="1", head="2")
    assert_is_well(shown)
    assert f"Translator wrote: “{ENGLISH}”" in shown.text
    wanted = trace.part(part)
    rows, columns = names(wanted.tokens), names(wanted.key_tokens)
    head = wanted.layers[0].head(1)
    if step == "tokens":
        strips = {key: shown.component(key) for key in shown.components() if key in ("main_tokens", "main_read")}
        assert [token["text"] for token in strips["main_tokens"]["chips"]] == rows
        assert ("main_read" in strips) == (part == "cross")
        if part == "cross":
            assert [token["text"] for token in strips["main_read"]["chips"]] == columns
    for name in LOOKING.get(step, ()):
        drawn = shown.component(f"main_{name}")
        assert (drawn["rows"], drawn["columns"]) == (rows, columns)
    if step == "qkv":
        labels = [shown.component(f"main_{name}")["rows"] for name in ("queries", "keys", "values")]
        assert labels == [rows, columns, columns]
    if step == "softmax":
        expect_weights(shown.component("main_stage"), head)


def expect_weights(drawn, head):
    """What the mask hides is drawn as hidden, and everything else with its weight."""
    is_hidden = np.isneginf(head.masked_scores)
    assert np.array_equal(np.isneginf(numbers(drawn)), is_hidden)
    np.testing.assert_allclose(np.where(is_hidden, 0, numbers(drawn)), head.weights, atol=1e-6)


@pytest.mark.parametrize("part", PARTS)
def test_the_code_lab_runs_the_encoder_and_says_of_the_decoder_why_not(open_page, part):
    shown = open_page("pages/code_lab.py", model=MODEL, text=FRENCH, part=part)
    if part == "cross":
        (notice,) = shown.notices
        assert re.findall("Translator|encoder|decoder", notice)[0] == "Translator"
        assert {"encoder", "decoder"} <= set(re.findall("Translator|encoder|decoder", notice))
        assert len(shown.tables) == 0
    else:
        assert shown.notices == []
        assert shown.tables[0]["largest difference"].astype(float).max() < 1e-5


@pytest.mark.parametrize("page", ["compare", "many_sentences", "syntax_check"])
@pytest.mark.parametrize(("model", "reads"), [(MODEL, "French"), (VIT, "pictures")])
def test_a_page_of_english_sentences_says_why_it_is_not_for_them(open_page, page, model, reads):
    shown = open_page(f"pages/{page}.py", model=model)
    (notice,) = shown.notices
    assert reads in notice


@pytest.mark.parametrize("page", ["step_by_step", "all_heads", "neuron_view", "code_lab"])
def test_words_that_it_does_not_know_are_named_and_stay_in_the_field(open_page, page):
    text = "le zèbre quantique dort"
    shown = open_page(f"pages/{page}.py", model=MODEL, text=text, part="decoder")
    (notice,) = shown.notices
    assert "“zèbre”, “quantique”" in notice
    assert shown.widget("text").value == text
    assert_is_well(shown.choose("text", FRENCH))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("page", ["step_by_step", "all_heads", "neuron_view", "code_lab"])
def test_where_nothing_is_written_a_sentence_says_so(open_page, page, part):
    shown = open_page(f"pages/{page}.py", model=MODEL, text="dort", part=part, step="softmax")
    assert "Translator wrote:" not in shown.text
    if page != "code_lab":
        assert_is_well(shown)
        assert "Translator wrote no word" in shown.text


@pytest.mark.parametrize("part", ["decoder", "cross"])
@pytest.mark.parametrize("step", keys())
def test_a_single_token_that_looks_is_no_trouble_at_any_step(open_page, part, step):
    assert_is_well(open_page(model=MODEL, text="dort", part=part, step=step))


def test_a_long_translation_is_shown_whole(open_page):
    text, wanted = "ma petite soeur n'aime pas les vieux chats", "my small sister does not love old cats"
    assert f"Translator wrote: “{wanted}”" in open_page(model=MODEL, text=text).text


def test_each_kind_of_model_gets_back_what_was_last_read_of_its_kind(open_page):
    typed = {"minilm-l6": "A dog barks", MODEL: "dort", VIT: list(DIGITS)[4]}
    shown = open_page(model="minilm-l6", text=typed["minilm-l6"])
    shown.choose("model", MODEL)
    assert shown.view.text == reading.FRENCH.first
    shown.choose("text", typed[MODEL])
    shown.choose("model", VIT)
    assert shown.view.text == PICTURE.first
    shown.choose("model", "toy")
    assert shown.view.text == typed["minilm-l6"]
    shown.choose("model", MODEL)
    assert shown.view.text == typed[MODEL]
    shown.choose("model", "minilm-l6")
    assert shown.widget("text").value == typed["minilm-l6"]
    assert_is_well(shown)


def test_another_part_lets_go_of_the_place_in_the_one_before(open_page):
    shown = open_page(model=MODEL, text=FRENCH, part="cross", step="scores", layer="1", head="2", cell="scores-1-2")
    assert_is_well(shown)
    shown.choose("part", "encoder")
    assert_is_well(shown)
    assert shown.view.to_query() == {"model": MODEL, "text": FRENCH, "step": "scores"}


@pytest.mark.parametrize("step", keys())
def test_every_step_shows_the_patches_of_a_picture(open_page, digits, step):
    picture = list(DIGITS)[3]
    shown = open_page(model=VIT, text=picture, step=step, layer="3", head="1")
    assert_is_well(shown)
    trace = digits.trace(picture)
    answer = digits.answer(trace)
    assert f"reads this as {answer.labels[int(answer.logits.argmax())]}," in shown.text
    assert shown.component("drawing")["picture"] == picture
    overlay = shown.component("overlay")
    weights = np.frombuffer(base64.b64decode(overlay["heads"][0]["values"]), "<f4")
    np.testing.assert_allclose(weights, trace.layers[2].head(0).weights[0, 1:], atol=1e-6)
    # A patch has no number in a vocabulary, and none is made up.
    if step == "tokens":
        assert [chip["id"] for chip in shown.component("main_tokens")["chips"]] == [None] * 17
        assert not re.search(r"-1\b|sentence", " ".join(shown.formulas))
        assert "picture → 17 tokens" in shown.text


@pytest.mark.parametrize("page", ["step_by_step", "all_heads", "neuron_view", "code_lab"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat sat", "A picture has 64 characters, one for each of its 8×8 pixels; this has 11"),
        ("z" * 64, "A pixel is one of 0–9 and a–g"),
        ("0" * 64, "Draw a digit or choose"),
        ("", "Draw a digit or choose"),
    ],
    ids=["a sentence", "wrong characters", "an empty picture", "no text"],
)
def test_what_is_no_picture_is_answered_in_a_sentence(open_page, page, text, words):
    shown = open_page(f"pages/{page}.py", model=VIT, text=text)
    (notice,) = shown.notices
    assert words in notice
    assert shown.component("drawing")["picture"] == "0" * 64


def test_what_a_picture_is_taken_for_is_read_off_the_run_with_this_mask(open_page):
    reader = load("vit-digits")
    shown = open_page(model="vit-digits")
    told = []
    for mask in ("none", "causal", "none"):
        shown.choose("mask", mask)
        logits = reader.answer(reader.trace(shown.view.text, mask=mask)).logits.astype(np.float64)
        odds = np.exp(logits - logits.max())
        first, second = np.argsort(-odds)[:2]
        is_told = odds[second] / odds.sum() >= 0.005
        rest = f"Second is {second}" if is_told else "Every other answer gets less than 0.005"
        told.append(f"reads this as {first}, with probability {odds[first] / odds.sum():.2f}. {rest}")
        assert told[-1] in shown.text
    assert told[0] != told[1]
