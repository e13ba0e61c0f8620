"""The page *Compare*."""

import base64
import json
import re
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest

from attention.answer import asked, generated_files
from attention.classroom.drawing import Shown, guess_of, show
from attention.classroom.submission import place_of
from attention.figures.assets import AT_REST
from attention.models import get_info, load
from attention.page.content import compare
from attention.page.content.pane import not_for
from tests.notebooks import code_of, run_here

PAGE = "pages/compare.py"
PICTURES = ("row", "first", "second", "difference", "changes")
TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"


@pytest.mark.parametrize(
    "sentences", [{}, {"text": "The bank raised its rates", "versus": "The bank raised its walls"}]
)
def test_it_opens_at_the_head_that_changes_most(open_page, sentences):
    changes = open_page(PAGE, **sentences).component("changes")
    of_heads = np.frombuffer(base64.b64decode(changes["values"]), "<f4").reshape(6, 12)
    assert of_heads[tuple(changes["selected"])] == of_heads.max() > 0


def test_it_begins_with_the_rows_of_the_word_that_changes_most(open_page):
    shown = open_page(PAGE)
    row, first, second = (shown.component(name) for name in ("row", "first", "second"))
    values = {
        name: np.frombuffer(base64.b64decode(each["values"]), "<f4").reshape(len(each["rows"]), -1)
        for name, each in (("row", row), ("first", first), ("second", second))
    }
    it = first["rows"].index("it")
    for column, name in enumerate(("first", "second")):
        of_it = dict(zip(first["rows"], values[name][it], strict=True))
        assert [of_it[key] for key in row["rows"]] == list(values["row"][:, column])
    assert {"animal", "street"} <= set(row["rows"])
    assert list(shown.components()).index("row") < list(shown.components()).index("first")


def test_a_pair_without_a_clear_change_says_so_and_one_with_a_clear_change_does_not(open_page):
    shown = open_page(PAGE, text="The cat sat on the mat", versus="The cat sat on the mat.")
    changes = np.frombuffer(base64.b64decode(shown.component("changes")["values"]), "<f4")
    same = open_page(PAGE, text="The cat sat on the mat", versus="The cat sat on the mat")
    assert ("No head changes" in shown.text, "No head changes" in same.text) == (bool(changes.max() < 0.1), True)
    assert "No head changes" not in open_page(PAGE).text


def test_a_sentence_of_ones_own_is_compared_with_nothing_until_there_is_a_second(open_page):
    shown = open_page(PAGE, text="One two")
    (notice,) = shown.notices
    assert "second sentence" in notice
    shown.choose("versus", "One three")
    assert shown.notices == []
    assert shown.component("difference")["rows"] == ["[CLS]", "one", "two", "three", "[SEP]"]


def test_two_models_have_a_layer_and_a_head_each(open_page):
    shown = open_page(PAGE, text="The cat sat").choose("beside", 1)
    shown.choose("layer", 1).choose("beside_head", 2)
    assert shown.component("first")["title"] == "MiniLM, layer 2, head 9"
    assert shown.component("second")["title"] == "Toy, layer 1, head 3"
    assert shown.view.to_query() == {
        "text": "The cat sat",
        "beside": "1",
        "layer": "2",
        "head": "9",
        "beside_head": "3",
    }
    assert "changes" not in shown.components()


def test_an_example_sets_both_sentences(open_page):
    first, second = compare.EXAMPLES[-1]
    shown = open_page(PAGE).choose_example(compare.shortly(first, second), "versus_example")
    assert (shown.view.text, shown.view.versus) == (first, second)


def test_a_pair_that_is_read_together_is_left_out_of_a_comparison(open_page):
    shown = open_page(PAGE, text="One two", versus="One three", pair="It was tired")
    assert "tired" not in shown.component("first")["rows"]
    assert shown.view.pair == "It was tired"


def test_the_cell_of_a_link_is_chosen_in_all_three(open_page):
    shown = open_page(PAGE, text="One two", versus="One three", cell="compare-1-0")
    for key in ("first", "second", "difference"):
        assert shown.component(key)["selected"] == [1, 0]
    (notice,) = open_page(PAGE, text="One two", versus="One three", cell="compare-9-0").notices
    assert "not here" in notice


def test_nothing_of_the_second_sentence_is_shown_before_the_guess(open_page):
    answered = open_page(PAGE)
    number = re.search(r"gives “animal” .{4} in the first sentence and (.{4}) in the second", answered.text).group(1)
    shown = open_page(PAGE, guess="1")
    assert shown.notices == []
    assert {"row", "second", "difference", "changes"}.isdisjoint(shown.components())
    assert "first" in shown.components()
    assert shown.component("question")["answers"] == ["more", "less", "the same"]
    assert "verdict" not in shown.component("question")
    assert "0.64" in shown.text
    assert number not in shown.text
    assert not shown.files
    shown.send("question", "choose", 1)
    assert shown.component("question")["verdict"] == "right"
    assert number in shown.text
    assert {"second", "difference", "changes"} <= set(shown.components())
    # The link shows the same to somebody else; another pair is asked about anew.
    there = open_page(PAGE, **shown.view.to_query())
    assert there.component("question") == shown.component("question")
    there.send("first", "select", {"matrix": there.component("first")["name"], "row": 1, "column": 2})
    assert "verdict" not in there.component("question")
    assert "second" not in there.components()


def test_where_only_one_sentence_has_a_word_there_is_nothing_to_guess(open_page):
    rows = open_page(PAGE).component("first")["rows"]
    shown = open_page(
        PAGE, text=TIRED, versus=WIDE, guess="1", cell=f"compare-{rows.index('tired')}-{rows.index('it')}"
    )
    assert "question" not in shown.components()
    assert "difference" in shown.components()


def file_of(rest, **link):
    """A file of the page of a link, as a browser takes it."""
    answer = asked.answer(generated_files.give, "GET", f"compare/now/{rest}", link, {})
    assert answer.status_code == 200
    return answer.body.decode()


def drawn(found):
    """The numbers of the matrices among the pictures, by their names."""
    names = ("matrix", AT_REST["matrix"])
    return {each["data"]["name"]: each["data"]["values"] for each in found if each["component"] in names}


@pytest.mark.parametrize(
    ("link", "names"),
    [
        ({}, PICTURES),
        ({"model": "toy", "text": "One two", "versus": "One three", "layer": "1", "head": "2"}, PICTURES),
        ({"text": "The cat sat", "beside": "1", "beside_head": "3"}, PICTURES[:4]),
        ({"text": "One two"}, ("first",)),
    ],
    ids=["examples", "two sentences", "two models", "one sentence"],
)
def test_the_app_a_file_and_a_room_draw_the_same(open_page, link, names):
    shown = open_page(PAGE, **link)
    written = file_of("page/compare.html", **link)
    given = json.loads(re.search('<script type="application/json" id="given">(.*?)</script>', written)[1])
    in_room = show(Shown("compare", urlencode(link)))
    wanted = {name: shown.component(name)["values"] for name in names}
    assert drawn(given["pictures"]) == drawn(in_room["pictures"]) == wanted
    assert ("Every head" in written, "Every head" in in_room["html"]) == ("changes" in names,) * 2
    # Neither has anything to be chosen above it.
    assert "Type a second sentence" not in written + in_room["html"]


def test_a_file_and_a_room_say_what_is_compared_and_in_which_head():
    told = show(Shown("compare", ""))
    assert told["title"] == f"{TIRED} / {WIDE}"
    assert re.findall(r"MiniLM|\d|mask", told["caption"]) == ["MiniLM", "4", "2"]
    told = show(Shown("compare", "text=The+cat+sat&beside=1"))
    assert told["title"] == "The cat sat"
    assert [line.partition(":")[0] for line in told["caption"].split("\n")] == ["MiniLM", "Toy"]


def test_a_room_asks_what_the_page_asks_and_shows_nothing_of_the_second_sentence_before():
    question = guess_of("compare", "").question
    assert re.findall("<bdi>animal</bdi>|<b>0.64</b>", question) == ["<bdi>animal</bdi>", "<b>0.64</b>"]
    closed, opened = (show(Shown("compare", "", seen)) for seen in ("closed", "opened"))
    assert set(drawn(closed["pictures"])) == {"first"}
    assert set(drawn(opened["pictures"])) == set(PICTURES)
    # On a wall, which nobody scrolls, it ends where "Both in full" begins.
    assert set(drawn(show(Shown("compare", "", "opened", on_wall=True))["pictures"])) == {"row", "difference"}


def test_a_task_about_the_head_on_a_screen_is_about_the_one_that_the_page_shows(open_page):
    link = {"text": TIRED, "versus": WIDE}
    found = place_of("compare", urlencode(link))
    assert [found.layer, found.head] == open_page(PAGE, **link).component("changes")["selected"]


@pytest.mark.parametrize("link", [{}, {"text": "One two", "versus": "One three"}, {"layer": "2", "head": "5"}])
def test_its_notebook_has_the_head_that_the_page_shows(open_page, link):
    shown = open_page(PAGE, **link)
    layer, head = shown.component("changes")["selected"]
    written, _ = run_here(code_of(file_of("notebook/attention-by-hand.ipynb", **link)))
    wanted = load("minilm-l6").trace(shown.view.text).layers[layer].head(head).weights
    np.testing.assert_allclose(written["weights"], wanted, rtol=0, atol=1e-5)
    recorded = json.loads(file_of("notebook-model/attention-recorded.ipynb", **link))
    assert f"Layer {layer + 1}, head {head + 1} of MiniLM" in "".join(recorded["cells"][0]["source"])


def test_its_difference_is_a_file_with_the_numbers_of_the_picture(open_page):
    shown = open_page(PAGE)
    path, _, query = shown.files["difference.csv"].removeprefix("./_attention/file/").partition("?")
    answer = asked.answer(generated_files.give, "GET", path, dict(parse_qsl(query)), {})
    _, *rows = [line.split(",") for line in answer.body.decode("utf-8-sig").splitlines()]
    written = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    drawn = np.frombuffer(base64.b64decode(shown.component("difference")["values"]), "<f4").reshape(written.shape)
    np.testing.assert_allclose(written, drawn, rtol=1e-3, atol=1e-6)


def test_a_model_that_reads_no_sentences_has_no_notebook_of_them():
    why = not_for(get_info("vit-digits"))
    for file in ("notebook/attention-by-hand.ipynb", "page/compare.html"):
        assert why in file_of(file, model="vit-digits")
