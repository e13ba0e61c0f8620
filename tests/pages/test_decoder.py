"""Pages with a decoder: the next token, and notices where something does not apply."""

import re
from urllib.parse import parse_qsl

import pytest

from attention.models import get_info
from attention.page.settings import CHAT
from tests.unit.lesson.telling import is_told

MODEL = "smollm2-135m"
SAVINGS = "Savings by grouped queries"
FRANCE = "The capital of France is"


def test_what_comes_next_stands_after_the_last_step_of_a_decoder_and_nowhere_else(open_page):
    assert "main_next" in open_page(model=MODEL, step="heads").components()
    assert "main_next" not in open_page(model=MODEL, step="sum").components()
    for model in ("toy", "minilm-l6"):
        assert "main_next" not in open_page(model=model, step="heads").components()


def test_a_pressed_token_joins_the_sentence(open_page):
    shown = open_page(model=MODEL, step="heads", text=FRANCE)
    assert re.search(r"␣Paris\b.*\b0\.77", shown.text)
    shown.send("main_next", "press", 0)
    assert shown.view.text == f"{FRANCE} Paris"
    assert shown.view.step == "heads"
    assert shown.component("main_joined")["rows"][-1] == "␣Paris"


def test_what_is_no_text_cannot_be_pressed(open_page):
    text = "The capital of France is Paris.\n\nThe end."
    shown = open_page(model=MODEL, step="heads", text=text)
    buttons = shown.component("main_next")["buttons"]
    # A special token cannot be typed; a line break can.
    assert [button["text"].startswith("<|") for button in buttons] == [button["isOff"] for button in buttons]
    off = [button["isOff"] for button in buttons].index(True)
    assert shown.send("main_next", "press", off).view.text == text
    line_break = next(index for index, button in enumerate(buttons) if button["text"].startswith("↵ "))
    assert shown.send("main_next", "press", line_break).view.text == f"{text}\n"


@pytest.mark.slow
def test_a_text_that_was_cut_cannot_be_continued(open_page):
    shown = open_page(model=MODEL, step="heads", text="cat mat " * 300)
    assert all(button["isOff"] for button in shown.component("main_next")["buttons"])


def test_a_pair_is_refused_in_a_sentence_and_the_first_is_shown(open_page):
    shown = open_page("pages/all_heads.py", model=MODEL, pair="It slept")
    (notice,) = shown.notices
    assert "SmolLM2" in notice
    assert "slept" not in " ".join(shown.component("head_matrix")["rows"])
    assert len(shown.component("atlas")["groups"][0]["heads"]) == 9


def test_what_grouped_queries_save_is_worked_out_for_the_model_and_for_others(open_page):
    shown = open_page(model=MODEL, step="qkv")
    assert re.search(r"SmolLM2\D+30\D+9\b", shown.text)
    assert re.search(r"GPT-3 175B\D+96\b", shown.choose("sizes", "GPT-3 175B").text)
    assert SAVINGS not in open_page(model=MODEL, step="scores").folds


@pytest.mark.parametrize(("model", "counts"), [("toy", [3, 1]), ("minilm-l6", [12, 3, 1])])
def test_a_model_of_which_no_heads_share_is_shown_what_sharing_would_change(open_page, model, counts):
    shown = open_page(model=model, step="qkv")
    assert SAVINGS in shown.folds
    assert not [key for key in shown.components() if key.startswith("shared_")]
    shown.open(SAVINGS)
    assert shown.view.to_query()["savings"] == "1"
    assert f"{get_info(model).n_layers} layer" in shown.text
    pictures = [key for key in shown.components() if key.startswith("shared_")]
    assert pictures == [f"shared_{count}" for count in counts]
    assert shown.component(pictures[0])["rows"] == shown.component("main_keys")["rows"]


def test_the_mask_of_a_decoder_is_named_as_it_is_and_a_link_has_it_as_ever(open_page):
    names = {"none": "causal, as in the model", "causal": "causal", "padding": "causal, padding"}
    for mask, name in names.items():
        shown = open_page(model=MODEL, step="mask", mask=mask)
        control = shown.widget("mask")
        assert control.options == list(names.values())
        assert (control.value, control.options[control.data["values"].index(mask)]) == (mask, name)
        assert shown.view.mask == mask
        section = "mask/decoder-padding" if mask == "padding" else "mask/decoder"
        assert is_told(section, "".join(shown.html))
    assert open_page(step="mask").widget("mask").options == list(names)


def test_a_link_may_want_what_comes_next_first(open_page):
    first = open_page(model=MODEL, step="heads", next="1").components()
    assert first.index("main_next") < first.index("main_joined")
    assert first.count("main_next") == 1
    last = open_page(model=MODEL, step="heads").components()
    assert last.index("main_next") > last.index("main_joined")
    for query in ({"model": MODEL, "step": "sum"}, {"model": "toy", "step": "heads"}):
        shown = open_page(next="1", **query)
        assert "main_next" not in shown.components()


def test_one_link_leads_to_the_row_that_the_prediction_is_read_from(open_page):
    shown = open_page(model=MODEL, step="heads", next="1", text="The cat sat", word="1")
    (link,) = (query for text, query in shown.ways.items() if "␣sat" in text)
    there = open_page(**dict(parse_qsl(link)))
    assert there.view.to_query() == shown.view.to_query() | {"word": "2"}
    assert not any("␣sat" in text for text in there.ways)


def test_a_text_is_read_as_a_chat_by_a_model_with_a_template_only(open_page):
    shown = open_page(model=MODEL, step="heads", text="Hi\n there", chat="1")
    rows = shown.component("main_joined")["rows"]
    assert [row for row in rows if row.startswith("<|")] == ["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"]
    assert shown.view.text == "Hi\n there"
    going_on = shown.send("main_next", "press", 0)
    assert not going_on.view[CHAT]
    assert going_on.component("main_joined")["rows"][:-1] == rows
    plain = open_page(model=MODEL, step="heads", text="Hi\n there", chat="1").send("context", "chat", False)
    assert "chat" not in plain.view.to_query()
    assert plain.component("main_joined")["rows"][0] == "Hi"
    assert "chat" not in open_page(model="toy", chat="1").view.to_query()
