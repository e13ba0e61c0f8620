"""The front door, and what both pages do when a model is not there or fails."""

import re
import shutil

import pytest

from attention.lesson.initial_selection import first_place
from attention.lesson.quiz import words_of
from attention.models import ModelUnavailableError, bundled, list_models, load, weights
from attention.models.toy import ToyModel
from tests import loaded
from tests.pages.forgetting import forget

MODELS = {info.model_id: info for info in list_models()}
SECRET = "xylophone quarantine"


def test_the_front_door_asks_before_it_shows_the_head_that_is_opened_first(open_page):
    shown = open_page("app.py")
    assert shown.components() == ["question", "front_tokens"]
    assert "the (5)" in shown.text
    assert "0.84" not in shown.text
    answers = shown.component("question")["answers"]
    shown.send("question", "choose", answers.index("mat"))
    trace = loaded.load("minilm-l6").trace("The cat sat on the mat")
    data = shown.component("front_minilm-l6")
    assert data["rows"] == [token.text for token in trace.tokens]
    layer, head = first_place(MODELS["minilm-l6"], trace.text)
    assert f"layer {layer + 1}, head {head + 1}" in data["alt"]
    assert shown.component("question")["verdict"] == "right"
    assert len(shown.proofs) == 1
    assert re.search(r"the \(1\)\D+cat\D+0\.75\D+the \(5\)\D+mat\D+0\.84", shown.text)


@pytest.mark.parametrize("model", MODELS)
def test_the_front_door_says_what_attention_is_in_two_sentences_and_without_a_formula(open_page, model):
    shown = open_page("app.py", model=model)
    first = next(body for body in shown.html if "Attention" in body)
    told = re.sub(r"<[^>]+>", "", first).strip()
    assert told.startswith("Attention lets every")
    assert len(re.findall(r"[.!?](?=\s|$)", told)) == 2
    for sign in ("softmax(", "√", "QK", "\\text", "d_k"):
        assert not [body for body in shown.html if sign in body and 'class="prose' in body]


@pytest.mark.parametrize("model", MODELS)
def test_the_question_is_judged_by_the_record_of_any_model(open_page, model):
    shown = open_page("app.py", model=model)
    assert shown.notices == []
    trace = loaded.load(model).trace(MODELS[model].reading.first).part("encoder")
    word = shown.component("front_tokens")["focus"]
    layer, head = first_place(MODELS[model], trace.text)
    row = trace.layers[layer].head(head).weights[word]
    words = [key for key in words_of(trace.tokens) if row[key] > 0]
    best = trace.tokens[max(words, key=lambda key: row[key])].text
    answers = shown.component("question")["answers"]
    shown.send("question", "choose", next(i for i, name in enumerate(answers) if name.split(" (")[0] == best))
    assert shown.component("question")["verdict"] == "right"
    assert f"front_{model}" in shown.components()


def test_what_is_typed_at_the_front_door_is_what_the_model_reads(open_page):
    shown = open_page("app.py").choose("text", "Two birds")
    assert [chip["text"] for chip in shown.component("front_tokens")["chips"]] == ["[CLS]", "two", "birds", "[SEP]"]
    # One word alone leaves nothing to guess.
    assert shown.choose("text", "birds").component("front_minilm-l6")["rows"] == ["[CLS]", "birds", "[SEP]"]


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
    assert "front_tokens" in open_page("app.py", model="toy").components()

    shown = open_page(step="scores", beside="1")
    assert "other_stage" in shown.components()
    assert "main_stage" not in shown.components()
    assert list(shown.codes) == [reason.remedy]
    assert shown.choose("model", "toy").component("main_stage")["rows"][0] == "the"


def test_weights_that_are_not_the_published_ones_are_refused_and_named(open_page, own_weights):
    own_weights.mkdir()
    (own_weights / bundled.MINILM.weights.file).write_bytes(b"not a model")
    shown = open_page(step="scores")
    reason = reason_for(own_weights)
    (notice,) = shown.notices
    assert notice.startswith(f"{reason} ")
    assert list(shown.codes) == [reason.remedy]


def test_a_folder_with_the_weights_alone_is_a_model_that_is_not_there(open_page, monkeypatch, own_weights):
    monkeypatch.delenv(weights.WEIGHTS_DIR_VARIABLE)
    published = weights.locate(bundled.MINILM.weights)
    monkeypatch.setenv(weights.WEIGHTS_DIR_VARIABLE, str(own_weights.parent))
    own_weights.mkdir()
    shutil.copy(published / bundled.MINILM.weights.file, own_weights)
    shown = open_page(step="scores")
    reason = reason_for(own_weights)
    (notice,) = shown.notices
    assert notice.startswith(f"{reason} ")
    assert list(shown.codes) == [reason.remedy]


# ------------------------------------------------------------------------------ a model that fails


@pytest.fixture
def failing_toy(monkeypatch):
    def trace(self, text, pair=None, *, mask=None):
        raise RuntimeError(f"cannot run on {text!r}")

    forget()
    monkeypatch.setattr(ToyModel, "trace", trace)
    yield
    forget()


def test_the_log_of_a_failing_model_does_not_hold_what_was_typed(open_page, failing_toy, capfd, caplog):
    shown = open_page(model="toy", text=SECRET)
    (notice,) = shown.notices
    assert "RuntimeError" in notice
    out, err = capfd.readouterr()
    logged = out + err + caplog.text
    assert not re.search("|".join(SECRET.split()), logged)
    assert "RuntimeError" in logged


def test_what_the_model_called_bert_really_is_stands_where_one_meets_it(open_page):
    front = open_page("app.py")
    (caption,) = [each for each in front.captions if "MiniLM" in each]
    cards = open_page("pages/models.py").html
    for place in (caption, *(card for card in cards if "<h3><bdi>BERT</bdi></h3>" in card)):
        assert "distilled" in place
    assert sum("MiniLM" in card for card in cards) >= 1


def test_where_there_is_nothing_to_choose_from_the_page_says_so(open_page):
    shown = open_page("app.py", model="minilm-l6", text="hello")
    assert "question" not in shown.components()
    assert any("two words" in notice for notice in shown.captions)


def test_pieces_among_the_answers_are_explained(open_page):
    for text, has_pieces in (("snowboarding birds", True), ("Two birds sang", False)):
        shown = open_page("app.py", model="minilm-l6", text=text)
        assert any(answer.startswith("##") for answer in shown.component("question")["answers"]) == has_pieces
        assert ("##" in shown.text) == has_pieces
