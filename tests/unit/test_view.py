"""Links: what a view says of itself comes back as the same view, and nonsense comes back as the default."""

from dataclasses import fields, replace
from urllib.parse import parse_qsl, quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attention import corpus
from attention.figures.head_view import THRESHOLDS
from attention.figures.matrix import Cell
from attention.lesson.steps import keys
from attention.lesson.survey import HIDE_NAMES, SORT_NAMES, Lines, Look
from attention.masks import MASK_NAMES
from attention.models import list_models, load
from attention.reading import FRENCH, PICTURE, TEXT
from attention.segments import BLOCK_NAMES
from attention.text import MAX_CHARACTERS, MAX_LINK_BYTES, clean, shorten
from attention.trace import Token
from attention.view import (
    DEFAULT_TEXT,
    MAX_PINS,
    Grammar,
    Pane,
    Spot,
    View,
    default_word,
    other_model,
    same_word,
    spot_of,
    text_notices,
    word_at,
)

# One that has an encoder and a decoder is among them, whatever the catalogue has.
BOTH = replace(list_models()[1], model_id="both", n_decoder_layers=4)
MODELS = {info.model_id: info for info in [*list_models(), BOTH]}
RELATIONS = sorted({relation for sentence in corpus.annotated() for relation in sentence.relations})
TOY = load("toy")
anything = st.text(st.characters())


# What can be hidden from a model: a picture has one size, and no padding.
MASKS = {"text": MASK_NAMES, "french": MASK_NAMES, "picture": ("none", "causal")}


def maybe(strategy):
    return st.none() | strategy


def panes(info):
    cell = st.builds(
        Cell, st.from_regex(r"[a-z]{1,12}", fullmatch=True), st.integers(0, 99_999), st.integers(0, 99_999)
    )
    return st.builds(
        Pane,
        maybe(st.integers(0, info.n_layers - 1)),
        maybe(st.integers(0, info.n_heads - 1)),
        maybe(cell),
    )


def lines(info):
    pins = st.tuples(st.sampled_from(["query", "key"]), ascending(st.integers(0, 99_999), min_size=1))
    return st.builds(
        Lines,
        heads=maybe(ascending(st.integers(0, info.n_heads - 1))),
        threshold=maybe(st.sampled_from(THRESHOLDS)),
        pinned=maybe(pins),
        mean=st.booleans(),
    )


def ascending(numbers, min_size=0):
    return st.sets(numbers, min_size=min_size, max_size=MAX_PINS).map(lambda found: tuple(sorted(found)))


@st.composite
def views(draw):
    """Any view that the page can come to."""
    model = draw(st.sampled_from(sorted(MODELS)))
    reading = MODELS[model].reading
    word = draw(maybe(st.integers(0, max(info.max_tokens for info in MODELS.values()) - 1)))
    view = View(
        model=model,
        part=draw(st.sampled_from(MODELS[model].parts or ("encoder",))),
        step=draw(st.sampled_from(keys())),
        mask=draw(st.sampled_from(MASKS[reading.name])),
        word=word,
        spot=draw(maybe(st.builds(Spot, st.integers(0, 1), st.integers(0, 99_999)))) if word is None else None,
        pane=draw(panes(MODELS[model])),
        beside=reading is TEXT and draw(st.booleans()),
        other=draw(panes(MODELS[other_model(model, MODELS)])),
        sort=draw(st.sampled_from(SORT_NAMES)),
        look=Look(draw(st.booleans()), draw(st.sampled_from(HIDE_NAMES)), draw(st.booleans())),
        block=draw(st.sampled_from(BLOCK_NAMES)),
        lines=draw(lines(MODELS[model])),
        grammar=Grammar(
            draw(st.sampled_from(["", *RELATIONS])),
            draw(maybe(st.integers(0, len(corpus.annotated()) - 1))),
            draw(st.booleans()),
        ),
    )
    # Sometimes what any of the models begins with.
    text = draw(anything | st.sampled_from([each.first for each in (TEXT, FRENCH, PICTURE)]))
    sentences = {"text": clean(text), "pair": clean(draw(anything)) if reading is TEXT else ""}
    versus = draw(maybe(anything))
    return replace(view, **sentences, versus=None if versus is None else clean(versus))


def read(query):
    return View.from_query(query, MODELS)


# ------------------------------------------------------------------------------------ there and back


@given(views())
def test_a_link_leads_back_to_its_view_without_a_notice(view):
    assert read(view.to_query()) == (view, [])


@given(views())
def test_a_link_is_made_of_text_and_written_in_one_way_only(view):
    query = view.to_query()
    assert all(isinstance(value, str) for value in query.values())
    assert read(query)[0].to_query() == query


@given(views(), views())
def test_different_views_have_different_links(one, other):
    assert (one == other) == (one.to_query() == other.to_query())


@pytest.mark.parametrize("model", [info.model_id for info in list_models()])
@pytest.mark.parametrize("first", [each.first for each in (TEXT, FRENCH, PICTURE)])
def test_a_link_leaves_out_what_its_own_model_begins_with_and_no_other_text(model, first):
    """What BERT begins with is no default of a model that reads French."""
    query = View(text=first, model=model).to_query()
    assert query.get("text", MODELS[model].reading.first) == first
    assert ("text" in query) == (first != MODELS[model].reading.first)
    assert read(query) == (View(text=first, model=model), [])


# Links as they were written and sent before words had a spot in the text and the treebank was in a link.
OLD_LINKS = {
    "text=Two+birds&model=toy&step=softmax&mask=causal&word=1&head=3&cell=weights-1-0&beside=1&beside_layer=2": View(
        text="Two birds",
        model="toy",
        step="softmax",
        mask="causal",
        word=1,
        pane=Pane(head=2, cell=Cell("weights", 1, 0)),
        beside=True,
        other=Pane(layer=1),
    ),
    "text=le+chat+noir+dort&model=translator-fr-en&part=cross&step=softmax": View(
        text="le chat noir dort", model="translator-fr-en", part="cross", step="softmax"
    ),
    "model=translator-fr-en": View(text=FRENCH.first, model="translator-fr-en"),
    "text=One+two&versus=One+three&cell=compare-1-0&step=scores": View(
        text="One two", versus="One three", step="scores", pane=Pane(cell=Cell("compare", 1, 0))
    ),
    "pair=It+was+tired&sort=across&block=AB&on=1-3&pins=query-2&words=1": View(
        pair="It was tired",
        sort="across",
        block="AB",
        lines=Lines(heads=(0, 2), pinned=("query", (2,))),
        look=Look(words=True),
    ),
}


@pytest.mark.parametrize("link", OLD_LINKS)
def test_an_old_link_leads_where_it_led(link):
    assert read(dict(parse_qsl(link))) == (OLD_LINKS[link], [])


def test_the_default_view_has_the_shortest_link_there_is():
    assert View().to_query() == {}
    assert read({}) == (View(), [])


def test_every_part_of_a_view_is_in_its_link():
    """A part that no link holds could not be shared."""
    changed = {
        "text": "One two",
        "pair": "Three",
        "versus": "",
        "model": "toy",
        "part": "cross",
        "step": "softmax",
        "mask": "causal",
        "word": 0,
        "spot": Spot(0, 4),
        "pane": Pane(head=1),
        "beside": True,
        "other": Pane(cell=Cell("scores", 1, 0)),
        "sort": "entropy",
        "look": Look(words=True),
        "block": "AB",
        "lines": Lines(heads=()),
        "grammar": Grammar(example=0),
    }
    assert set(changed) == {field.name for field in fields(View)}
    for name, value in changed.items():
        view = replace(View(model="both") if name == "part" else View(), **{name: value})
        assert view.to_query() != {}
        assert read(view.to_query()) == (view, [])


def test_layers_and_heads_count_from_one_in_a_link_and_words_from_zero():
    view, notices = read({"layer": "1", "head": "12", "word": "0", "beside_head": "3", "cell": "scores-3-2"})
    assert (view.pane, view.word, view.other.head) == (Pane(0, 11, Cell("scores", 3, 2)), 0, 2)
    assert notices == []


# ---------------------------------------------------------------------------------------- bad links

NAMES = (
    "text",
    "at",
    "relation",
    "example",
    "rare",
    "model",
    "step",
    "mask",
    "word",
    "layer",
    "head",
    "cell",
    "beside",
)
NAMES += ("beside_layer", "beside_head", "beside_cell", "sort", "words", "hide", "renormalise")
NAMES += ("block", "on", "least", "pins", "mean", "pair", "versus", "unknown")


@given(st.dictionaries(st.sampled_from(NAMES) | anything, anything))
def test_no_link_is_bad_enough_to_raise(query):
    view, notices = read(query)
    assert read(view.to_query()) == (view, [])
    for sentence in notices:
        sentence.encode()
        assert len(sentence) < 300


@given(st.dictionaries(st.sampled_from(NAMES), st.from_regex(r"[-0-9a-z٣²]{0,8}", fullmatch=True)))
def test_no_almost_good_link_is_bad_enough_to_raise(query):
    view, notices = read(query)
    assert read(view.to_query()) == (view, [])
    # What was not taken is spoken of.
    for name in NAMES[1:-1]:
        # A second sentence is spoken of in words.
        if name == "pair" and any("second sentence" in sentence for sentence in notices):
            continue
        if name in query and not any(f"{name}=" in sentence for sentence in notices):
            assert meant(view.to_query().get(name, query[name])) == meant(query[name])


def meant(value):
    """Numbers may have zeros in front, and lists of them any order."""
    return {str(int(part)) if part.isascii() and part.isdigit() else part for part in value.split("-")}


@pytest.mark.parametrize(
    ("name", "value", "may_be"),
    [
        ("model", "gpt-5", "toy, minilm-l6"),
        ("model", "", "toy, minilm-l6"),
        ("step", "Scores", "tokens, embed, qkv, scores"),
        ("mask", "all", "none, causal, padding"),
        ("beside", "yes", "0, 1"),
        ("word", "-1", "0 to 511"),
        ("word", "512", "0 to 511"),
        ("word", "1e2", "0 to 511"),
        ("word", "٣", "0 to 511"),
        ("word", "²", "0 to 511"),
        ("layer", "0", "1 to 6"),
        ("layer", "7", "1 to 6"),
        ("head", "13", "1 to 12"),
        ("head", "9" * 5000, "1 to 12"),
        ("beside_layer", "2", "1 to 1"),
        ("beside_head", "4", "1 to 3"),
        ("cell", "scores", "scores-3-2"),
        ("cell", "scores-1", "scores-3-2"),
        ("cell", "scores--1-2", "scores-3-2"),
        ("cell", "scores-1-²", "scores-3-2"),
        ("beside_cell", "a-b-c", "scores-3-2"),
        ("block", "AC", "all, AA, AB, BA, BB"),
        ("on", "0-1", "from 1 to 12"),
        ("on", "13", "from 1 to 12"),
        ("on", "1-x", "from 1 to 12"),
        ("least", "0.03", "0.02, 0.05, 0.1"),
        ("pins", "value-3", "query-3-5"),
        ("pins", "query", "query-3-5"),
        ("pins", "query--3", "query-3-5"),
        ("mean", "yes", "0, 1"),
        ("at", "A", "A-8"),
        ("at", "C-8", "A-8"),
        ("at", "A--8", "A-8"),
        ("at", "B-²", "A-8"),
        ("relation", "object", "dobj"),
        ("example", "0", "1 to 200"),
        ("example", "201", "1 to 200"),
        ("rare", "yes", "0, 1"),
    ],
)
def test_a_bad_parameter_becomes_the_default_and_a_notice_says_what_it_can_be(name, value, may_be):
    view, notices = read({"text": "One two", name: value})
    assert view == View(text="One two")
    assert len(notices) == 1
    assert f"{name}={value[:30]}" in notices[0]
    assert may_be in notices[0]


def test_every_bad_parameter_has_a_notice_of_its_own_and_the_good_ones_stay():
    view, notices = read({"step": "softmax", "mask": "x", "word": "y", "head": "3"})
    assert view == View(step="softmax", pane=Pane(head=2))
    assert [("mask=x" in sentence, "word=y" in sentence) for sentence in notices] == [(True, False), (False, True)]


def test_the_limits_of_a_place_are_those_of_its_own_model():
    assert read({"model": "toy", "head": "3", "beside_head": "12"})[1] == []
    assert len(read({"model": "toy", "head": "12", "beside_head": "13"})[1]) == 2


def test_nothing_in_a_notice_can_act_on_the_page():
    (sentence,) = read({"step": "a\nb\u202ec\ud800"})[1]
    assert sentence.startswith("The link says step=a bc\ufffd, ")


# --------------------------------------------------------------------------------------------- text


def test_a_text_too_long_for_a_link_is_cut_and_a_notice_says_where():
    view, (notice,) = read({"text": "word " * 2000 + "end"})
    assert len(view.text) <= MAX_CHARACTERS
    assert "10,003 characters" in notice
    assert f"“…{view.text[-20:]}”" in notice
    assert text_notices(view.text) == []


def test_a_text_of_just_the_longest_length_is_not_cut():
    text = "a" * MAX_CHARACTERS
    assert read({"text": text}) == (View(text=text), [])
    assert len(text_notices(text + "b")) == 1


LETTERS = st.text(st.sampled_from("aé漢 "), max_size=40).map(lambda text: text * 90)


@given(LETTERS, LETTERS, maybe(LETTERS))
def test_a_link_holds_all_sentences_together_within_its_budget(text, pair, versus):
    view, notices = read({"text": text, "pair": pair} | ({} if versus is None else {"versus": versus}))
    together = view.text + view.pair + (view.versus or "")
    assert len(together) <= MAX_CHARACTERS
    assert len(quote(together, safe="")) <= MAX_LINK_BYTES
    lost = [
        clean(typed or "") != kept
        for typed, kept in ((text, view.text), (pair, view.pair), (versus, view.versus or ""))
    ]
    assert len(notices) == sum(lost)
    assert read(view.to_query()) == (view, [])


def test_the_first_sentence_has_its_room_first_and_what_is_left_out_is_said():
    view, (notice,) = read({"text": "a" * MAX_CHARACTERS, "pair": "It was tired"})
    assert (len(view.text), view.pair) == (MAX_CHARACTERS, "")
    assert notice == ("The second sentence has 12 characters, and a link has room for 0 of them: it was left out.")
    shorter = View(pair="b" * 2000).with_text("a" * 1000)
    assert (len(shorter.text), len(shorter.pair)) == (1000, 1500)


@given(anything)
def test_the_text_of_a_link_is_the_text_that_the_field_would_take(typed):
    assert read({"text": typed})[0].text == View().with_text(typed).text


def test_no_text_stays_no_text():
    """Somebody who shares an empty field does not share the first example."""
    view = View().with_text("  ")
    assert view.text == ""
    assert read(view.to_query()) == (view, [])


# ------------------------------------------------------------------------------------------ changes

FULL = View(
    text="One two three",
    model="toy",
    step="scores",
    mask="causal",
    word=1,
    pane=Pane(0, 2, Cell("scores", 1, 0)),
    beside=True,
    other=Pane(3, 4, Cell("scores", 2, 2)),
)


def without_cells(view):
    return replace(view, pane=replace(view.pane, cell=None), other=replace(view.other, cell=None))


def test_a_new_sentence_lets_go_of_the_word_and_the_cells_of_the_old_one():
    assert FULL.with_text(" Four ") == replace(without_cells(FULL), text="Four", word=None)


def test_another_second_sentence_lets_go_of_the_word_and_the_cells_and_a_new_first_one_keeps_it():
    paired = replace(FULL, pair="Old")
    assert paired.with_pair(" New\n") == replace(without_cells(FULL), pair="New", word=None)
    assert paired.with_pair("").pair == ""
    assert paired.with_text("Four").pair == "Old"


def test_another_sentence_to_compare_lets_go_of_the_cells_and_keeps_the_word():
    assert FULL.with_versus(" x ") == replace(without_cells(FULL), versus="x")
    assert FULL.with_versus("x").with_text("Four").versus == "x"
    assert read(FULL.with_versus("").to_query())[0].versus == ""


def test_another_step_lets_go_of_the_cells_and_the_same_step_keeps_them():
    assert FULL.with_step("softmax") == replace(without_cells(FULL), step="softmax")
    assert FULL.with_step("scores") == FULL


def test_another_model_lets_go_of_layers_heads_and_words_and_the_same_one_keeps_them():
    assert FULL.with_model("minilm-l6") == replace(FULL, model="minilm-l6", word=None, pane=Pane(), other=Pane())
    assert FULL.with_model("toy") == FULL


def test_another_model_keeps_where_the_word_was_until_another_one_is_chosen():
    spot = Spot(0, 4)
    moved = FULL.with_model("minilm-l6", spot)
    assert (moved.word, moved.spot) == (None, spot)
    assert read(moved.to_query()) == (moved, [])
    assert moved.to_query()["at"] == "A-4"
    assert (moved.with_word(2).word, moved.with_word(2).spot) == (2, None)
    assert moved.with_text("Four").spot is moved.with_pair("Four").spot is moved.with_part("cross").spot is None
    assert moved.with_step("softmax").spot == moved.with_mask("none").spot == moved.with_versus("x").spot == spot


def test_a_link_that_says_twice_which_word_is_in_focus_is_told_which_counts():
    view, (notice,) = read({"word": "2", "at": "A-4"})
    assert (view.word, view.spot) == (2, None)
    assert "at=A-4" in notice


@given(views(), st.sampled_from(sorted(MODELS)))
def test_whatever_model_is_chosen_the_view_is_one_that_it_takes(view, model):
    found = view.with_model(model).fitting(MODELS[model])
    assert read(found.to_query()) == (found, [])
    assert found.fitting(MODELS[model]) == found
    # What the model takes stays.
    if view.mask in MASKS[MODELS[model].reading.name]:
        assert found.mask == view.mask
    if MODELS[model].reading is TEXT:
        assert (found.pair, found.beside) == (view.pair, view.beside)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"mask": "padding"}, "mask=padding, which is not known here: none is shown; it can be none, causal"),
        ({"pair": "It was tired"}, "a second sentence, which Digits does not take"),
        ({"part": "cross"}, "part=cross"),
    ],
)
def test_a_link_that_asks_a_model_for_what_it_does_not_take_is_told(query, words):
    view, (notice,) = read({"model": "vit-digits", **query})
    assert view == View(text=PICTURE.first, model="vit-digits")
    assert words in notice


def test_padding_that_is_no_longer_there_is_not_in_focus_and_matrices_of_another_size_have_no_cell():
    padding = Token("[PAD]", "", None, 7, 0, is_special=True, is_padding=True)
    word = Token("cat", "cat", 1, 1, 5, start=4)
    padded = replace(FULL, mask="padding")
    assert padded.with_mask("none", padding) == replace(without_cells(FULL), mask="none", word=None)
    assert padded.with_mask("causal", word) == without_cells(FULL)
    assert FULL.with_mask("none", word) == replace(FULL, mask="none")
    assert FULL.with_mask("padding") == replace(without_cells(FULL), mask="padding")
    assert FULL.with_mask("causal") == FULL


# What belongs to one page, and that page.
OWN = {"versus": ("Compare", "It slept"), "grammar": ("Syntax check", Grammar("det", 3))}
PAGES = ("Step by step", "Compare", "Syntax check", "Models")


@given(views(), views(), st.sampled_from(PAGES))
def test_a_page_has_what_is_its_own_and_nothing_of_another_page(view, kept, page):
    shown = view.shown_on(page, kept)
    default = View()
    for name, (owner, _) in OWN.items():
        own = getattr(view, name) if getattr(view, name) != getattr(default, name) else getattr(kept, name)
        assert getattr(shown, name) == (own if owner == page else getattr(default, name))
        assert getattr(view.shown_on(page), name) == getattr(view if owner == page else default, name)
    same = dict.fromkeys(OWN)
    assert replace(shown, **same) == replace(view, **same)


@pytest.mark.parametrize("name", OWN)
def test_what_belongs_to_a_page_comes_back_there_from_every_other_page(name):
    owner, value = OWN[name]
    chosen = replace(View(text="Two birds"), **{name: value})
    kept = chosen.keeping(View(), owner)
    for page in PAGES:
        if page != owner:
            kept = View(text="A dog").shown_on(page).keeping(kept, page)
    assert View(text="A dog").shown_on(owner, kept) == replace(chosen, text="A dog")
    # What is let go there is let go, and what an old link of another page has is kept.
    assert getattr(View().keeping(kept, owner), name) == getattr(View(), name)
    assert getattr(chosen.keeping(View(), "Step by step"), name) == value


def test_another_word_lets_go_of_the_cells():
    assert FULL.with_word(2) == replace(without_cells(FULL), word=2)


def test_pins_stay_as_long_as_the_tokens_do_and_heads_as_long_as_the_head_that_was_chosen():
    drawn = Lines(heads=(0, 1), threshold=0.1, pinned=("key", (2,)), mean=True)
    view = replace(FULL, lines=drawn)
    without_pins, without_heads = replace(drawn, pinned=None), replace(drawn, heads=None)
    assert view.with_text("Four").lines == view.with_pair("Four").lines == without_pins
    assert view.with_look(Look(words=True)).lines == without_pins
    assert view.with_look(Look(hide="special")).lines == drawn
    assert view.with_pane(replace(view.pane, head=1)).lines == without_heads
    assert view.with_pane(replace(view.pane, cell=None)).lines == drawn
    assert view.with_model("minilm-l6").lines == replace(drawn, pinned=None, heads=None)


def test_more_pins_than_a_link_has_room_for_are_not_kept():
    link = {"pins": "query-" + "-".join(map(str, range(500)))}
    assert read(link)[0].lines.pinned == ("query", tuple(range(MAX_PINS)))


def test_a_place_that_nobody_chose_is_the_models_own():
    info = MODELS["minilm-l6"]
    assert Pane().layer_and_head(info) == (info.default_layer, info.default_head)
    assert Pane(0, 0).layer_and_head(info) == (0, 0)


def test_beside_the_toy_stands_a_real_model_and_beside_a_real_one_the_toy():
    assert other_model("toy", MODELS) == "minilm-l6"
    assert other_model("minilm-l6", MODELS) == "toy"


# --------------------------------------------------------------------------------------------- words


def test_the_word_in_focus_is_the_one_in_the_middle(minilm):
    for model, wanted in ((TOY, "sat"), (minilm, "sat")):
        tokens = model.trace(DEFAULT_TEXT).tokens
        assert tokens[default_word(tokens)].text == wanted


@pytest.mark.parametrize("text", ["cat", "!", "[MASK]", "😀", "the cat", "the [MASK]", "one two three"])
@pytest.mark.parametrize("mask", MASK_NAMES)
def test_the_word_in_focus_is_never_a_token_that_the_model_added(minilm, text, mask):
    for model in (TOY, minilm):
        tokens = model.trace(text, mask=mask).tokens
        word = tokens[default_word(tokens)]
        assert word.word is not None


def test_the_word_in_focus_is_no_punctuation_mark_where_there_is_a_word(minilm):
    for model in (TOY, minilm):
        for text, wanted in (("One, two", "one"), ("Yes!", "yes"), ("... cat ...", "cat"), ("?!", "?")):
            tokens = model.trace(text).tokens
            assert tokens[default_word(tokens)].text == wanted


def test_the_word_in_focus_is_the_first_piece_of_its_word(minilm):
    tokens = minilm.trace("zyzzyvas").tokens
    assert len(tokens) > 3
    assert default_word(tokens) == 1


def test_the_same_word_is_the_same_characters_in_both_models(minilm):
    text = "Unbelievable tokenizers didn't cross l'Afrique!"
    here, there = minilm.trace(text).tokens, TOY.trace(text).tokens
    for token in here:
        if token.start is None:
            continue
        same = there[same_word(token.position, here, there)]
        assert same.start <= token.start < same.start + len(same.typed)


def test_of_a_pair_the_word_in_focus_is_in_the_first_sentence_and_has_no_like_where_only_that_was_read(minilm):
    pair = minilm.trace(DEFAULT_TEXT, "It was so very tired that it slept").tokens
    assert pair[default_word(pair)].text == "sat"
    alone = TOY.trace(DEFAULT_TEXT).tokens
    slept = next(token for token in pair if token.text == "slept")
    assert same_word(slept.position, pair, alone) == default_word(alone)
    tired = next(token for token in pair if token.text == "mat")
    assert alone[same_word(tired.position, pair, alone)].text == "mat"


def test_what_has_no_characters_is_answered_with_the_word_in_the_middle(minilm):
    here, there = minilm.trace(DEFAULT_TEXT).tokens, TOY.trace(DEFAULT_TEXT).tokens
    assert same_word(0, here, there) == default_word(there)
    only_special = (Token("[CLS]", "", None, 0, 101, is_special=True),)
    assert same_word(1, here, only_special) == 0


@given(anything, st.sampled_from(MASK_NAMES), st.data())
def test_the_same_word_is_always_one_of_the_other_models_tokens(minilm, typed, mask, data):
    text = shorten(clean(typed))[0]
    assume(any(character.isalnum() for character in text))
    here, there = TOY.trace(text, mask=mask).tokens, minilm.trace(text, mask=mask).tokens
    for one, other in ((here, there), (there, here)):
        position = data.draw(st.integers(0, len(one) - 1))
        found = same_word(position, one, other)
        assert 0 <= found < len(other)
        assert not other[found].is_padding


@given(anything, st.data())
def test_a_spot_of_the_text_is_in_the_token_that_covers_it_in_every_model(minilm, typed, data):
    text = shorten(clean(typed))[0]
    assume(any(character.isalnum() for character in text))
    for model in (TOY, minilm):
        tokens = model.trace(text).tokens
        spot = Spot(0, data.draw(st.integers(0, len(text))))
        found = tokens[word_at(spot, tokens)]
        starts = [token.start for token in tokens if token.start is not None]
        if spot.start >= starts[0]:
            assert found.start == max(start for start in starts if start <= spot.start)
        for token in tokens:
            if token.start is not None:
                assert spot_of(tokens[word_at(spot_of(token), tokens)]) == spot_of(token)
