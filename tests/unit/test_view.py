"""Links: a view survives a round trip, and nonsense becomes the default."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attention.core import reading
from attention.core.masks import MASK_NAMES
from attention.core.text import MAX_CHARACTERS, MAX_LINK_BYTES, as_typed, clean, shorten
from attention.core.trace import Token
from attention.experiments import corpus
from attention.figures.head_view import THRESHOLDS
from attention.figures.matrix import Cell
from attention.figures.question import Answer
from attention.lesson import steps
from attention.lesson.initial_selection import first_place
from attention.lesson.survey import Lines, Look
from attention.models import list_models, load
from attention.page.pages import ALL_HEADS, COMPARE, PAGES, STEP_BY_STEP, SYNTAX_CHECK, everything
from attention.page.pages import MODELS as MODELS_PAGE
from attention.page.parameters import (
    MAX_PINS,
    Answers,
    Cells,
    Choice,
    Context,
    Grid,
    Indices,
    Keys,
    Name,
    Number,
    Order,
    Pins,
    Sorts,
    Spot,
    Spots,
    Text,
)
from attention.page.settings import (
    ANSWER,
    AT,
    CELL,
    DEFAULT_TEXT,
    EXAMPLE,
    HEAD,
    HIDE,
    LAYER,
    MASK,
    MODEL,
    ON,
    OPEN,
    OTHER,
    PAIR,
    PART,
    PINS,
    RELATION,
    ROWS,
    STEP,
    TEXT,
    VERSUS,
    WORD,
    WORDS,
)
from attention.page.view import Place, View, same_word, spot_of, word_at
from tests.unit.saying import says

# One that has an encoder and a decoder is among them, whatever the catalogue has.
BOTH = replace(list_models()[1], model_id="both", n_decoder_layers=4)
INFOS = {info.model_id: info for info in [*list_models(), BOTH]}
TOY = load("toy")
anything = st.text(st.characters())


FIRST_TEXTS = [each.first for each in (reading.TEXT, reading.FRENCH, reading.PICTURE)]


def maybe(strategy):
    return st.none() | strategy


def ascending(numbers, min_size=0):
    return st.sets(numbers, min_size=min_size, max_size=MAX_PINS).map(lambda found: tuple(sorted(found)))


def values(parameter, context):
    """Any value that a parameter can have, by its kind."""
    match parameter.kind:
        case Choice(options):
            found = st.sampled_from(options(context))
        case Number(count):
            found = st.integers(0, count(context) - 1)
        case Text():
            found = (anything | st.sampled_from(FIRST_TEXTS)).map(as_typed)
        case Name(most):
            found = st.text(st.characters(), max_size=most).map(clean).filter(lambda name: len(name) <= most)
        case Cells():
            name = st.from_regex(r"[a-z]{1,12}", fullmatch=True)
            found = st.builds(Cell, name, st.integers(0, 99_999), st.integers(0, 99_999))
        case Spots():
            found = st.builds(Spot, st.integers(0, 1), st.integers(0, 99_999))
        case Indices(count):
            found = ascending(st.integers(0, count(context) - 1))
        case Grid(most):
            rows = st.lists(st.integers(0, 2**most - 1), max_size=most).map(tuple)
            found = rows.filter(lambda rows: not rows or rows[-1])
        case Order(most):
            orders = st.integers(0, most).flatmap(lambda n: st.permutations(range(n))).map(tuple)
            found = orders.filter(lambda order: not order or order[-1] != len(order) - 1)
        case Answers():
            given = st.lists(st.integers(0, 100), max_size=16).map(tuple)
            found = st.builds(Answer, st.from_regex("[0-9a-f]{8}", fullmatch=True), given)
        case Keys():
            keys = st.sets(st.from_regex("[a-zA-Z0-9_]{1,64}", fullmatch=True), max_size=16)
            found = keys.map(lambda found: tuple(sorted(found)))
        case Sorts():
            order = st.tuples(st.integers(0, 998), st.booleans())
            tables = st.dictionaries(st.from_regex("[a-zA-Z0-9_]{1,64}", fullmatch=True), order, max_size=8)
            found = tables.map(lambda orders: tuple(sorted(orders.items())))
        case Pins():
            found = st.tuples(st.sampled_from(["query", "key"]), ascending(st.integers(0, 99_999), min_size=1))
    return st.just(parameter.default) | found


@st.composite
def views(draw, pages=PAGES):
    """Any view that a page can come to, with what other pages have of their own."""
    page = draw(st.sampled_from(pages))
    context = Context(INFOS, draw(st.sampled_from(sorted(INFOS))))
    chosen = {
        parameter.name: draw(values(parameter, context))
        for parameter in everything(page)
        if parameter is not MODEL and parameter.needs(context.info)
    }
    if chosen["word"] is not None:
        chosen["at"] = None
    return View.of(page, model=context.model, **chosen)


# What belongs to a page and stays there: its answer, the orders of its tables, and its folds.
LEFT = (ANSWER, ROWS, OPEN)


def read(query, page=STEP_BY_STEP):
    return View.from_query(query, page, INFOS)


# ------------------------------------------------------------------------------------ there and back


@given(views())
def test_a_link_leads_back_to_its_view_without_a_notice(view):
    assert read(view.to_query(), view.page) == (view.shown(), [])


@pytest.mark.parametrize("model", [info.model_id for info in list_models()])
@pytest.mark.parametrize("first", FIRST_TEXTS)
def test_a_link_leaves_out_what_its_own_model_begins_with_and_no_other_text(model, first):
    """What BERT begins with is no default of a model that reads French."""
    view = View.of(STEP_BY_STEP, text=first, model=model)
    query = view.to_query()
    assert query.get("text", INFOS[model].reading.first) == first
    assert ("text" in query) == (first != INFOS[model].reading.first)
    assert read(query) == (view, [])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_the_default_view_has_the_shortest_link_there_is(page):
    assert View(page).to_query() == {}
    assert read({}, page) == (View(page), [])


@pytest.mark.parametrize(("number", "key"), list(enumerate(steps.keys(), 1)))
def test_a_link_may_say_a_step_by_its_number(number, key):
    view, notices = read({"step": str(number)})
    assert (view.step, notices) == (key, [])
    assert View.of(STEP_BY_STEP, step=key).to_query() == view.to_query()


@pytest.mark.parametrize("number", ["0", "10", "-1", "01", "4.0", "٤"])
def test_a_step_of_another_number_there_is_not(number):
    view, notices = read({"step": number})
    assert view.step == "tokens"
    assert len(notices) == 1


def test_layers_and_heads_count_from_one_in_a_link_and_words_from_zero():
    view, notices = read({"layer": "1", "head": "12", "word": "0", "beside_head": "3", "cell": "scores-3-2"})
    assert (view.pane, view.word, view.place(OTHER).head) == (Place(0, 11, Cell("scores", 3, 2)), 0, 2)
    assert notices == []


# ---------------------------------------------------------------------------------------- bad links

NAMES = tuple(parameter.name for parameter in everything(STEP_BY_STEP))


@given(
    st.dictionaries(st.sampled_from(NAMES), st.from_regex(r"[-0-9a-z٣²]{0,8}", fullmatch=True)), st.sampled_from(PAGES)
)
def test_no_almost_good_link_is_bad_enough_to_raise(query, page):
    view, notices = read(query, page)
    assert read(view.to_query(), page) == (view.shown(), [])
    # What was not taken is spoken of.
    written = view.to_query()
    for parameter in page.parameters:
        name = parameter.name
        if name not in query or any(f"{name}=" in sentence for sentence in notices):
            continue
        # A second sentence is spoken of in words, and what was only beside another model goes in silence.
        if parameter.needs(INFOS[view.model]):
            assert meant(written.get(name, query[name])) == meant(query[name])
        elif parameter is PAIR and as_typed(query[name]):
            assert any("second sentence" in sentence for sentence in notices)


def meant(value):
    """Numbers may have zeros in front, and lists of them any order."""
    return {str(int(part)) if part.isascii() and part.isdigit() else part for part in value.split("-")}


@pytest.mark.parametrize(
    ("name", "value", "may_be"),
    [
        ("model", "gpt-5", "toy, minilm-l6"),
        ("step", "Scores", "tokens, embed, qkv, scores"),
        ("word", "512", "0 to 511"),
        ("word", "²", "0 to 511"),
        ("layer", "7", "1 to 6"),
        ("head", "13", "1 to 12"),
        ("on", "13", "from 1 to 12"),
        ("head", "9" * 5000, "1 to 12"),
        ("cell", "scores-1", "scores-3-2"),
        ("cell", "scores-1-²", "scores-3-2"),
        ("block", "AC", "all, AA, AB, BA, BB"),
        ("least", "0.03", "0.02, 0.05, 0.1"),
        ("pins", "value-3", "query-3-5"),
        ("at", "C-8", "A-8"),
        ("relation", "object", "dobj"),
        ("example", "201", "1 to 200"),
        ("panel", "Shapes", "shapes, numpy, pytorch, table"),
        ("get", "a" * 97, "At most 96 characters"),
    ],
)
def test_a_bad_parameter_becomes_the_default_and_a_notice_says_what_it_can_be(name, value, may_be):
    for page in PAGES:
        view, notices = read({"text": "One two", name: value}, page)
        assert view == View.of(page, text="One two")
        assert len(notices) == 1
        assert f"{name}={value[:30]}" in notices[0]
        assert may_be in notices[0]


def test_every_bad_parameter_has_a_notice_of_its_own_and_the_good_ones_stay():
    view, notices = read({"step": "softmax", "mask": "x", "word": "y", "head": "3"})
    assert view == View.of(STEP_BY_STEP, step="softmax", head=2)
    assert [("mask=x" in sentence, "word=y" in sentence) for sentence in notices] == [(True, False), (False, True)]


def test_nothing_in_a_notice_can_act_on_the_page():
    (sentence,) = read({"step": "a\nb\u202ec\ud800"})[1]
    assert "step=a bc\ufffd" in sentence


# --------------------------------------------------------------------------------------------- text


def test_a_text_too_long_for_a_link_is_cut_and_a_notice_says_where():
    view, (notice,) = read({"text": "word " * 2000 + "end"})
    assert len(view.text) <= MAX_CHARACTERS
    assert "10,003 characters" in notice
    assert f"“… {' '.join(['word'] * 8)}”" in notice
    assert view.notices({}) == view.notices({"text": view.text}) == []


@pytest.mark.parametrize(
    ("typed", "is_told"),
    [
        ("  one  two\n\tthree ", False),
        ("one\r\ntwo\u00a0three", False),
        ("one\x00two", True),
        ("one\u202etwo", True),
        ("one\ud800two", True),
    ],
)
def test_white_space_is_kept_and_what_is_no_text_is_told_of_each_text(typed, is_told):
    view, notices = read({"text": typed, "pair": "a\x07b"})
    assert view.text.split() == clean(typed).split()
    assert (view.text == typed.replace("\r\n", "\n"), view.pair) == (not is_told, "a b")
    assert len(notices) == 1 + is_told
    # The link that the page writes has nothing left to tell of.
    assert read(view.to_query()) == (view, [])
    assert View().notices({"text": typed}) == notices[:is_told]


LETTERS = st.text(st.sampled_from("aé漢 "), max_size=40).map(lambda text: text * 90)


@given(LETTERS, LETTERS, maybe(LETTERS))
def test_a_link_holds_all_sentences_together_within_its_budget(text, pair, versus):
    typed = {"text": text, "pair": pair} | ({} if versus is None else {"versus": versus})
    view, notices = read(typed, COMPARE)
    together = view.text + view.pair + (view.versus or "")
    assert len(together) <= MAX_CHARACTERS
    assert len(quote(together, safe="")) <= MAX_LINK_BYTES
    lost = [
        as_typed(typed or "") != kept
        for typed, kept in ((text, view.text), (pair, view.pair), (versus, view.versus or ""))
    ]
    assert sum("a link has room" in notice for notice in notices) == sum(lost)
    assert read(view.to_query(), COMPARE) == (view, [])
    # What is chosen one after the other is cut as a link is.
    chosen = View(COMPARE).with_value(VERSUS, versus).with_value(PAIR, pair).with_value(TEXT, text)
    assert read(chosen.to_query(), COMPARE) == (chosen, [])


def test_the_first_sentence_has_its_room_first_and_what_is_left_out_is_said():
    view, (notice,) = read({"text": "a" * MAX_CHARACTERS, "pair": "It was tired"})
    assert (len(view.text), view.pair) == (MAX_CHARACTERS, "")
    assert says(notice, "12", "0")
    shorter = View.of(pair="b" * 2000).with_value(TEXT, "a" * 1000)
    assert (len(shorter.text), len(shorter.pair)) == (1000, 1500)


@given(anything)
def test_the_text_of_a_link_is_the_text_that_the_field_would_take(typed):
    assert read({"text": typed})[0].text == View().with_value(TEXT, typed).text


# ------------------------------------------------------------------------------------------ changes

FULL = View.of(
    STEP_BY_STEP,
    text="One two three",
    model="toy",
    step="scores",
    mask="causal",
    word=1,
    layer=0,
    head=2,
    cell=Cell("scores", 1, 0),
    beside=True,
    beside_layer=3,
    beside_head=4,
    beside_cell=Cell("scores", 2, 2),
)


def but(view, **values):
    """The view with other values, and nothing else changed."""
    return View.of(view.page, **{**view.chosen, **values})


def without_cells(view):
    return but(view, cell=None, beside_cell=None)


def test_a_new_sentence_lets_go_of_the_word_and_the_cells_of_the_old_one():
    assert FULL.with_value(TEXT, " Four ") == but(without_cells(FULL), text=" Four ", word=None)


def test_another_second_sentence_lets_go_of_the_word_and_the_cells_and_a_new_first_one_keeps_it():
    paired = but(FULL, pair="Old")
    assert paired.with_value(PAIR, " New\n") == but(without_cells(FULL), pair=" New\n", word=None)
    assert paired.with_value(PAIR, "").pair == ""
    assert paired.with_value(TEXT, "Four").pair == "Old"


def test_another_sentence_to_compare_lets_go_of_the_cells_and_keeps_the_word():
    there = FULL.for_page(COMPARE)
    assert there.with_value(VERSUS, " x ") == but(without_cells(there), versus=" x ")
    assert there.with_value(VERSUS, "x").with_value(TEXT, "Four").versus == "x"
    assert read(there.with_value(VERSUS, "").to_query(), COMPARE)[0].versus == ""


def test_another_step_lets_go_of_the_cells_and_the_same_step_keeps_them():
    assert FULL.with_value(STEP, "softmax") == but(without_cells(FULL), step="softmax")
    assert FULL.with_value(STEP, "scores") == FULL


def test_what_is_chosen_again_as_it_is_changes_nothing():
    for parameter in FULL.page.parameters:
        assert FULL.with_value(parameter, FULL[parameter]) == FULL


def test_another_model_lets_go_of_layers_heads_and_words_and_the_same_one_keeps_them():
    gone = dict.fromkeys(("word", "layer", "head", "beside_layer", "beside_head"))
    assert FULL.with_value(MODEL, "minilm-l6") == but(without_cells(FULL), model="minilm-l6", **gone)
    assert FULL.with_value(MODEL, "toy") == FULL


def test_another_model_keeps_where_the_word_was_until_another_one_is_chosen():
    spot = Spot(0, 4)
    moved = FULL.with_value(MODEL, "minilm-l6").with_value(AT, spot)
    assert (moved.word, moved.spot) == (None, spot)
    assert read(moved.to_query()) == (moved, [])
    assert moved.to_query()["at"] == "A-4"
    assert (moved.with_value(WORD, 2).word, moved.with_value(WORD, 2).spot) == (2, None)
    changes = {TEXT: "Four", PAIR: "Four", PART: "cross"}
    assert [moved.with_value(parameter, value).spot for parameter, value in changes.items()] == [None] * 3
    others = {STEP: "softmax", MASK: "none", VERSUS: "x"}
    assert [moved.with_value(parameter, value).spot for parameter, value in others.items()] == [spot] * 3


def test_a_link_that_says_twice_which_word_is_in_focus_is_told_which_counts():
    view, (notice,) = read({"word": "2", "at": "A-4"})
    assert (view.word, view.spot) == (2, None)
    assert "at=A-4" in notice


@given(views(), st.sampled_from(sorted(INFOS)))
def test_whatever_model_is_chosen_the_view_is_one_that_it_takes(view, model):
    context = Context(INFOS, model)
    found = view.with_value(MODEL, model).valid_for(context)
    assert read(found.to_query(), view.page) == (found.shown(), [])
    assert found.valid_for(context) == found
    # What the model takes stays.
    if view.mask in INFOS[model].reading.masks:
        assert found.mask == view.mask
    if INFOS[model].reading.takes_sentences:
        assert (found.pair, found.beside) == (view.pair, view.beside)


@given(st.data())
def test_a_value_that_there_is_not_is_one_of_no_parameter(data):
    """Whatever a browser says."""
    context = Context(INFOS, data.draw(st.sampled_from(sorted(INFOS))))
    parameter = data.draw(st.sampled_from(everything(ALL_HEADS)))
    wild = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | anything | st.tuples(anything, st.tuples(anything))
    )
    if not parameter.fits(wild, context):
        return
    view = View.of(model=context.model).replaced(parameter, wild)
    assert read(view.for_page(COMPARE).to_query(), COMPARE)[1] == []
    assert not isinstance(wild, float) or wild in THRESHOLDS


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"mask": "padding"}, "mask=padding. Showing none. Possible: none, causal."),
        ({"pair": "It was tired"}, "a second sentence, which Digits does not take"),
        ({"part": "cross"}, "part=cross"),
    ],
)
def test_a_link_that_asks_a_model_for_what_it_does_not_take_is_told(query, words):
    view, (notice,) = read({"model": "vit-digits", **query})
    assert view == View.of(STEP_BY_STEP, text=reading.PICTURE.first, model="vit-digits")
    assert words in notice


def test_matrices_of_another_size_have_no_cell():
    padded = but(FULL, mask="padding")
    assert padded.with_value(MASK, "causal") == without_cells(FULL)
    assert FULL.with_value(MASK, "none") == but(FULL, mask="none")
    assert FULL.with_value(MASK, "padding") == without_cells(padded)
    assert FULL.with_value(MASK, "causal") == FULL


@given(views(), st.sampled_from(PAGES))
def test_the_link_of_a_page_has_what_is_its_own_and_nothing_of_another_page(view, page):
    there = view.for_page(page)
    names = {parameter.name for parameter in page.parameters}
    assert set(there.to_query()) <= names
    for parameter in page.own:
        is_left = parameter in LEFT and page is not view.page
        assert there[parameter] == (parameter.default if is_left else view[parameter])
    # And what no link of the page holds is there on coming back.
    back = read(there.to_query(), page)[0].carry_over(view).for_page(view.page)
    for parameter in view.page.own:
        if parameter not in page.own and parameter not in LEFT:
            assert back[parameter] == view[parameter]


@pytest.mark.parametrize(
    ("owner", "values"),
    [
        (COMPARE, {"versus": "It slept"}),
        (SYNTAX_CHECK, {"relation": "det", "example": 3}),
        (ALL_HEADS, {"sort": "entropy", "on": (1, 2), "pins": ("key", (1,))}),
    ],
    ids=lambda each: each if isinstance(each, dict) else each.title,
)
def test_what_belongs_to_a_page_comes_back_there_from_every_other_page(owner, values):
    view = chosen = View.of(owner, text="Two birds", **values)
    for page in PAGES:
        view = read(view.for_page(page).to_query(), page)[0].carry_over(view)
        assert view.for_page(owner) == chosen
    # What an old link of another page has of it is kept, too.
    linked = read(chosen.to_query(), STEP_BY_STEP)[0].carry_over(View(MODELS_PAGE))
    assert not set(values) & set(linked.to_query())
    assert linked.for_page(owner) == chosen


def test_what_belongs_to_tokens_that_are_gone_meanwhile_does_not_come_back():
    heads = View.of(ALL_HEADS, text="Two birds", pins=("key", (1,)), on=(1, 2), sort="entropy")
    # By a choice, and by a link.
    assert heads.for_page(STEP_BY_STEP).with_value(TEXT, "A dog").for_page(ALL_HEADS) == View.of(
        ALL_HEADS, text="A dog", on=(1, 2), sort="entropy"
    )
    linked = read({"text": "A dog", "head": "3"}, STEP_BY_STEP)[0].carry_over(heads)
    assert linked.for_page(ALL_HEADS) == View.of(ALL_HEADS, text="A dog", head=2, sort="entropy")


def test_a_cell_of_a_picture_that_one_page_alone_draws_stays_there():
    view = View.of(COMPARE, cell=Cell("compare", 1, 0))
    assert view.for_page(COMPARE).pane.cell == Cell("compare", 1, 0)
    assert [view.for_page(page).pane.cell for page in PAGES if page is not COMPARE] == [None] * (len(PAGES) - 1)
    for page in PAGES:
        assert FULL.for_page(page).pane.cell == Cell("scores", 1, 0)


def test_another_word_lets_go_of_the_cells():
    assert FULL.with_value(WORD, 2) == but(without_cells(FULL), word=2)


def test_pins_stay_as_long_as_the_tokens_do_and_heads_as_long_as_the_head_that_was_chosen():
    drawn = Lines(heads=(0, 1), threshold=0.1, pinned=("key", (2,)), mean=True)
    view = but(FULL.for_page(ALL_HEADS), on=(0, 1), least=0.1, pins=("key", (2,)), mean=True)
    assert view.lines == drawn
    without_pins, without_heads = replace(drawn, pinned=None), replace(drawn, heads=None)
    assert view.with_value(TEXT, "Four").lines == view.with_value(PAIR, "Four").lines == without_pins
    assert view.with_value(WORDS, True).lines == without_pins
    assert view.with_value(HIDE, "special").lines == drawn
    assert view.with_value(HEAD, 1).lines == view.with_value(LAYER, None).lines == without_heads
    assert view.with_value(CELL, None).lines == drawn
    assert view.with_value(MODEL, "minilm-l6").lines == replace(drawn, pinned=None, heads=None)
    assert view.with_value(WORDS, True).look == Look(words=True)


def test_an_example_stays_with_a_relation_that_it_has():
    treebank = corpus.annotated()
    relation, *others = treebank[0].relations
    (strange, *_) = {name for each in treebank for name in each.relations} - set(treebank[0].relations)
    view = View.of(SYNTAX_CHECK, example=0)
    assert view.with_value(RELATION, relation).with_value(RELATION, others[0])[EXAMPLE] == 0
    assert view.with_value(RELATION, strange)[EXAMPLE] is None


def test_more_pins_than_a_link_has_room_for_are_not_kept():
    link = {"pins": "query-" + "-".join(map(str, range(500)))}
    assert read(link)[0].lines.pinned == ("query", tuple(range(MAX_PINS)))
    assert View(ALL_HEADS).with_value(PINS, ("query", tuple(range(500)))) == read(link, ALL_HEADS)[0]


def test_no_heads_that_are_on_are_another_thing_than_none_that_are_chosen():
    view = View(ALL_HEADS).with_value(ON, ())
    assert (view.to_query(), view.lines.heads) == ({"on": ""}, ())
    assert View(ALL_HEADS).lines.heads is None


def test_a_place_that_nobody_chose_is_opened_for_the_text():
    info = INFOS["minilm-l6"]
    default = (info.default_layer, info.default_head)
    assert Place().layer_and_head(info, DEFAULT_TEXT) == first_place(info, DEFAULT_TEXT) != default
    # Beside a chosen one it is the model's own default, as in links from before sentences had openings.
    assert Place(layer=0).layer_and_head(info, DEFAULT_TEXT) == (0, info.default_head)
    assert Place(head=0).layer_and_head(info, DEFAULT_TEXT) == (info.default_layer, 0)
    assert Place(0, 0).layer_and_head(info, DEFAULT_TEXT) == (0, 0)


# --------------------------------------------------------------------------------------------- words


def test_the_same_word_is_the_same_characters_in_both_models(minilm):
    text = "Unbelievable tokenizers didn't cross l'Afrique!"
    here, there = minilm.trace(text).tokens, TOY.trace(text).tokens
    for token in here:
        if token.start is None:
            continue
        same = there[same_word(token.position, here, there)]
        assert same.start <= token.start < same.start + len(same.typed)


def test_what_the_other_model_has_not_read_is_no_word_of_it(minilm):
    pair = minilm.trace(DEFAULT_TEXT, "It was so very tired that it slept").tokens
    alone = TOY.trace(DEFAULT_TEXT).tokens
    slept, mat = (next(token for token in pair if token.text == text) for text in ("slept", "mat"))
    assert same_word(slept.position, pair, alone) is None
    assert alone[same_word(mat.position, pair, alone)].text == "mat"


def test_what_has_no_characters_is_no_word_of_another_model(minilm):
    here, there = minilm.trace(DEFAULT_TEXT).tokens, TOY.trace(DEFAULT_TEXT).tokens
    assert same_word(0, here, there) is None
    assert same_word(1, here, (Token("[CLS]", "", None, 0, 101, is_special=True),)) is None


@given(anything, st.sampled_from(MASK_NAMES), st.data())
def test_the_same_word_is_always_one_of_the_other_models_tokens(minilm, typed, mask, data):
    text = shorten(as_typed(typed))[0]
    assume(any(character.isalnum() for character in text))
    here, there = TOY.trace(text, mask=mask).tokens, minilm.trace(text, mask=mask).tokens
    for one, other in ((here, there), (there, here)):
        position = data.draw(st.integers(0, len(one) - 1))
        found = same_word(position, one, other)
        if found is None:
            starts = [token.start for token in other if token.start is not None]
            assert one[position].start is None or one[position].start < min(starts)
        else:
            assert not other[found].is_padding


@given(anything, st.data())
def test_a_spot_of_the_text_is_in_the_token_that_covers_it_in_every_model(minilm, typed, data):
    text = shorten(as_typed(typed))[0]
    assume(any(character.isalnum() for character in text))
    for model in (TOY, minilm):
        tokens = model.trace(text).tokens
        spot = Spot(0, data.draw(st.integers(0, len(text))))
        found = word_at(spot, tokens)
        starts = [token.start for token in tokens if token.start is not None]
        if spot.start >= starts[0]:
            assert tokens[found].start == max(start for start in starts if start <= spot.start)
        else:
            assert found is None
        for token in tokens:
            if token.start is not None:
                assert spot_of(tokens[word_at(spot_of(token), tokens)]) == spot_of(token)
