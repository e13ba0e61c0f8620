"""The front page, and pages whose model is missing or fails."""

from urllib.parse import parse_qsl

import numpy as np
import pytest

from attention.figures.format import number
from attention.lesson.initial_selection import first_place
from attention.lesson.quiz import words_of
from attention.models import ModelUnavailableError, list_models, load, weights
from attention.page.content import front
from tests import loaded
from tests.pages.forgetting import forget

MODELS = {info.model_id: info for info in list_models()}


def test_the_front_shows_the_true_rows_of_the_head_that_is_opened_first(open_page):
    shown = open_page("app.py")
    trace = loaded.load("minilm-l6").trace(front.OPENING_TEXT)
    layer, head = first_place(MODELS["minilm-l6"], trace.text)
    data, weights = shown.component("front_picture"), trace.layers[layer].head(head).weights
    assert [word["text"] for word in data["words"]] == [token.text for token in trace.tokens]
    assert sorted(map(int, data["rows"])) == list(range(len(trace.tokens)))
    for row, sent in data["rows"].items():
        np.testing.assert_allclose([weight for weight, _ in sent], weights[int(row)], atol=5e-5)
        assert [written for _, written in sent] == [
            number(w) if w >= 0.005 else "" for w in map(float, weights[int(row)])
        ]
    assert trace.tokens[data["focus"]].text == "it"
    for row, told in data["told"].items():
        assert number(float(weights[int(row)].max())) in told
    assert len(shown.proofs) == 1


def test_where_the_head_only_sees_a_special_token_the_one_that_links_the_word_most_is_offered(open_page):
    shown = open_page("app.py", text="The glass fell on the floor and it shattered")
    trace = loaded.load("minilm-l6").trace(shown.view.text)
    names = [token.text for token in trace.tokens]
    it, nouns = names.index("it"), [names.index("glass"), names.index("floor")]
    assert trace.tokens[int(trace.weights[(*first_place(trace.info, trace.text), it)].argmax())].is_special
    linking = [at for at in np.ndindex(6, 12) if trace.weights[at][it].argmax() in nouns]
    layer, head = max(linking, key=lambda at: trace.weights[at][it].max())
    row = trace.weights[layer, head, it]
    label = f"Layer {layer + 1}, head {head + 1} gives “{names[row.argmax()]}” {number(float(row.max()))} ▸"
    shown = open_page("app.py", **dict(parse_qsl(shown.ways[label])))
    np.testing.assert_allclose(
        [weight for weight, _ in shown.component("front_picture")["rows"][str(it)]], row, atol=5e-5
    )
    (way_in,) = [query for name, query in shown.ways.items() if number(float(row.max())) in name]
    assert f"layer={layer + 1}&head={head + 1}" in way_in
    # The head stays while words are pressed, and goes with the sentence.
    shown.send("front_picture", "choose", 2)
    np.testing.assert_allclose(
        [weight for weight, _ in shown.component("front_picture")["rows"]["2"]],
        trace.weights[layer, head, 2],
        atol=5e-5,
    )
    assert "links" not in shown.choose("text", "Two birds").query


@pytest.mark.parametrize("text", [front.OPENING_TEXT, "He was hungry so he ate", "I like cats.", "Hello"])
def test_no_other_head_is_offered_where_the_row_is_on_a_word_or_no_head_links_it(open_page, text):
    assert not [label for label in open_page("app.py", text=text).ways if label.startswith("Layer")]


def test_no_weight_is_sent_before_a_guess(open_page):
    shown = open_page("app.py", guess="1")
    assert shown.component("front_picture")["rows"] == {}
    assert "0.64" not in shown.text
    assert not [label for label in shown.ways if "0.64" in label]
    answers = shown.component("question")["answers"]
    shown.send("question", "choose", answers.index("animal"))
    assert shown.component("question")["verdict"] == "right"
    assert shown.component("front_picture")["rows"]


def test_a_press_on_a_word_is_in_the_link_and_one_on_a_number_opens_it_in_its_step(open_page):
    shown = open_page("app.py")
    shown.send("front_picture", "choose", 2)
    assert shown.component("front_picture")["focus"] == 2
    assert shown.query["word"] == "2"
    shown.send("front_picture", "open", [10, 2])
    assert shown.page.address == "step_by_step"
    assert (shown.query["step"], shown.query["cell"], shown.query["word"]) == ("softmax", "weights-10-2", "10")
    trace = loaded.load("minilm-l6").trace(front.OPENING_TEXT)
    assert "0.64" in shown.text
    assert shown.query["text"] == trace.text


def test_a_press_on_a_number_of_a_picture_opens_it_too(open_page):
    shown = open_page("app.py", model="vit-digits")
    shown.send("front_picture", "select", {"matrix": "weights", "row": 3, "column": 6})
    assert shown.page.address == "step_by_step"
    assert {"step": "softmax", "cell": "weights-3-6", "word": "3"}.items() <= shown.query.items()


@pytest.mark.parametrize("said", [None, [1], [1, 2, 3], [1, 15], [-1, 0], ["1", 2], {"query": 1}, [True, 1]])
def test_what_is_no_number_of_the_picture_opens_nothing(open_page, said):
    shown = open_page("app.py").send("front_picture", "open", said)
    assert shown.page.address == ""
    assert "cell" not in shown.query


def test_a_long_text_sends_the_row_of_its_word_alone(open_page):
    shown = open_page("app.py", text="the cat sat on the mat " * 10)
    data = shown.component("front_picture")
    assert list(data["rows"]) == [str(data["focus"])]


@pytest.mark.parametrize("model", MODELS)
def test_the_question_is_judged_by_the_record_of_any_model(open_page, model):
    shown = open_page("app.py", model=model, guess="1")
    assert shown.notices == []
    trace = loaded.load(model).trace(shown.view.text).part("encoder")
    word = shown.component("front_picture")["focus"]
    layer, head = first_place(MODELS[model], trace.text)
    row = trace.layers[layer].head(head).weights[word]
    words = [key for key in words_of(trace.tokens) if row[key] > 0]
    best = trace.tokens[max(words, key=lambda key: row[key])].text
    answers = shown.component("question")["answers"]
    shown.send("question", "choose", next(i for i, name in enumerate(answers) if name.split(" (")[0] == best))
    assert shown.component("question")["verdict"] == "right"


def test_the_ways_in_keep_the_sentence_and_start_where_they_say(open_page):
    shown = open_page("app.py", text="Two birds", step="softmax", mask="causal")
    first, of_toy = "text=Two+birds&mask=causal", "text=Two+birds&model=toy&step=qkv&mask=causal&factors=Q"
    assert {first, of_toy} <= set(shown.ways.values())


def test_the_decoder_is_not_loaded_but_there_is_a_way_to_it(open_page):
    shown = open_page("app.py", text="Two birds")
    (way,) = [link for label, link in shown.ways.items() if "SmolLM2" in label]
    assert way == "text=Two+birds&model=smollm2-135m&step=heads&next=1"
    assert not [key for key in shown.components() if "smollm2" in key]


# -------------------------------------------------------------------------- a model that is not there


@pytest.fixture
def own_weights(tmp_path, monkeypatch):
    """Let the server look for weights in a folder of our own, and forget afterwards what it found."""
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(tmp_path))
    forget()
    yield tmp_path / "minilm-l6"
    forget()


def reason_for(folder):
    """Why the weights in this folder will not do, as the loader says it."""
    with pytest.raises(ModelUnavailableError) as caught:
        load(folder.name)
    return caught.value


def test_without_weights_the_toy_works_and_berts_place_says_what_to_do(open_page, own_weights):
    front = open_page("app.py")
    assert front.components() == []
    reason = reason_for(own_weights)
    (notice,) = front.notices
    assert notice.startswith(f"{reason} ")
    assert "not installed" in notice
    assert list(front.codes) == [reason.remedy]
    assert "front_picture" in open_page("app.py", model="toy").components()

    shown = open_page(step="scores", beside="1")
    assert "other_stage" in shown.components()
    assert "main_stage" not in shown.components()
    assert list(shown.codes) == [reason.remedy]
    assert shown.choose("model", "toy").component("main_stage")["rows"][0] == "the"


# ------------------------------------------------------------------------------ a model that fails


def test_where_no_word_stands_out_nothing_is_asked(open_page):
    shown = open_page("app.py", model="minilm-l6", text="hello", guess="1")
    assert "question" not in shown.components()
    assert any("guess" in notice for notice in shown.captions)
    assert shown.component("front_picture")["rows"]


def test_pieces_are_explained_where_they_are_answers_or_only_seen(open_page):
    seen = "The dog chased the cat and the bird because it was unfazed"
    for text, are_answers, is_told in (
        ("snowboarding birds", True, True),
        (seen, False, True),
        ("Two birds sang", False, False),
    ):
        shown = open_page("app.py", model="minilm-l6", text=text, guess="1")
        assert any(answer.startswith("##") for answer in shown.component("question")["answers"]) == are_answers
        assert ("##" in shown.text) == is_told
