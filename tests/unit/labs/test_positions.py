"""*Where am I?*: statements about reordering and about each positional encoding, against numbers computed here."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from attention.figures.dials import Dials
from attention.figures.matrix import Cell
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import step_of
from attention.models import list_models
from attention.models.base import Encoded
from attention.page.blocks import Notice, Picture
from attention.page.labs.positions import LAB, ORDER, SCHEME
from attention.page.labs.positions.knobs import MOST_MOVED, SHIFTS
from attention.page.parameters import Context, read
from tests.drawn import current
from tests.loaded import load
from tests.unit.labs.seen import figure, prose, scene_of, table, told
from tests.unit.labs.seen import shown as lab_shown
from tests.unit.lesson.telling import facts_in
from tests.unit.saying import says, tells

MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]
ENCODERS = ["toy", "minilm-l6", "translator-fr-en", "vit-digits"]


shown = partial(lab_shown, LAB)


def column(found, name):
    return np.array(found[name], dtype=float)


# ---------------------------------------------------------------------------------- another order


@pytest.mark.parametrize("model_id", ENCODERS)
@pytest.mark.parametrize("order", [None, (2, 0, 1), (1, 0)])
def test_without_positions_no_output_of_an_encoder_moves(model_id, order):
    moves = table(shown(scene_of(model_id), order=order), "moves_table")
    assert column(moves, "without positions").max() < 1e-5
    assert column(moves, "with positions").max() > 1e-3


def test_a_decoder_is_told_that_its_mask_knows_the_order():
    blocks = shown(scene_of("smollm2-135m"))
    facts = facts_in(told(blocks), "positions/order-masked")
    assert float(facts["bare"]) < 1e-5 < facts["without"]
    moves = table(blocks, "moves_table")
    drawn = [column(moves, kind).max() for kind in ("without positions", "with positions")]
    assert [float(facts["without"]), float(facts["placed"])] == pytest.approx(drawn, abs=0.005)


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
def test_with_positions_the_weights_are_those_of_the_model_that_reads_that_order(model_id):
    scene, order = scene_of(model_id), (3, 0, 2, 1)
    blocks = shown(scene, order=order, placed=True)
    words = [token for token in scene.tokens if not token.is_special]
    tokens = list(scene.tokens)
    for place, index in enumerate(order):
        tokens[words[place].position] = words[index]
    tokens = tuple(replace(token, position=place) for place, token in enumerate(tokens))
    (first, *_) = load(model_id).trace_batch([Encoded(scene.trace.text, tokens)]).layers
    drawn = figure(blocks, "moved_weights")
    np.testing.assert_allclose(
        np.where(np.isneginf(drawn.drawn), 0, drawn.values), first.steps().weights[0, 1], atol=1e-5
    )
    assert drawn.row_labels == tuple(token.text for token in tokens)
    assert drawn.row_labels[drawn.focus_row] == scene.labels[scene.word]
    np.testing.assert_allclose(figure(blocks, "typed_weights").values, scene.steps.weights, atol=1e-5)


def test_the_table_has_the_position_of_each_word_in_an_order():
    scene = scene_of("toy")
    blocks = shown(scene, order=(6, 5, 4, 3, 2, 1, 0))
    moves = table(blocks, "moves_table")
    assert moves["position now"] == ["6", "5", "4", "3", "2", "1", "0"]


def test_no_choice_of_an_order_is_the_reverse_and_what_is_typed_can_be_chosen():
    scene = scene_of("minilm-l6")
    strip = figure(shown(scene), "order")
    assert strip.order == tuple(reversed(range(len(strip.names))))
    assert not {"[CLS]", "[SEP]"} & set(strip.names)
    blocks = shown(scene, order=())
    assert figure(blocks, "order").order == tuple(range(len(strip.names)))
    assert tells(prose(blocks), "positions/as-typed")
    assert column(table(blocks, "moves_table"), "with positions").max() == 0


def test_every_button_leads_to_another_order_of_the_words():
    scene = scene_of("toy")
    blocks = shown(scene, order=(1, 0))
    buttons = figure(blocks, "orders")
    for button in buttons.row:
        order = ORDER.kind.read(button.parts["order"], None)
        assert figure(shown(scene, order=order), "order").order != figure(blocks, "order").order


def test_an_order_of_more_words_than_there_are_is_cut_to_them():
    scene = scene_of("toy", "Two birds")
    assert figure(shown(scene, order=(4, 1, 0, 3, 2)), "order").order == (1, 0)


def test_of_a_long_text_the_first_words_can_be_moved():
    scene = scene_of("toy", "word " * (MOST_MOVED + 5))
    blocks = shown(scene)
    assert len(figure(blocks, "order").names) == MOST_MOVED
    assert any("can be moved" in block.sentence for block in blocks if isinstance(block, Notice))
    assert table(blocks, "moves_table")["position now"][-1] == str(MOST_MOVED + 4)


def test_one_word_alone_has_no_order():
    blocks = shown(scene_of("toy", "Birds"))
    strip = next(block for block in blocks if isinstance(block, Picture))
    assert not strip.is_selectable
    assert "no other order" in prose(blocks)


CONTEXT = Context({info.model_id: info for info in list_models()}, "toy")


@pytest.mark.parametrize("bad", ["1", "2-1-3", "1-2", "2-2", "0-1", "3-1", "02-1", "2-1-", "-", "a", "2 - 1", "2.1"])
def test_a_link_says_an_order_in_one_way_only(bad):
    value, notice = read(ORDER, {"order": bad}, CONTEXT)
    assert value is None
    assert says(notice, "3", "1", "2")


@pytest.mark.parametrize("scheme", SCHEME.kind.options(None))
def test_what_looks_something_up_in_another_text_has_no_order_of_its_own(scheme):
    trace = load("translator-fr-en").trace("le chat noir dort").cross
    (notice,) = shown(HeadContext(trace, 0, 0, 0), scheme=scheme)
    assert isinstance(notice, Notice)
    assert LAB.guess(HeadContext(trace, 0, 0, 0)) is None


@pytest.mark.parametrize("model_id", MODELS)
def test_the_question_is_answered_by_what_was_computed(model_id):
    scene = scene_of(model_id)
    guess = LAB.guess(scene)
    (right,) = guess.right
    moves = column(table(shown(scene), "moves_table"), "without positions")
    assert guess.answers[right] == ("It stays the same." if moves.max() < 1e-4 else "It changes.")
    assert LAB.guess(None) is None


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_whoever_chooses_another_token_or_head_is_not_asked_once_more(model_id):
    one, other = scene_of(model_id, head=1, word=3), scene_of(model_id, "Two birds sing", layer=2, head=4, word=1)
    assert LAB.guess(one).mark == LAB.guess(other).mark


# --------------------------------------------------------------------------------- what tells it


def test_the_products_that_are_said_are_sums_of_cosines():
    facts = facts_in(told(shown(None, scheme="sinusoids")), "positions/sinusoids-product")
    speeds = 10_000.0 ** (-np.arange(32) / 32)
    for distance, place in ((0, "own"), (1, "near"), (10, "far")):
        assert facts[place] == pytest.approx(np.cos(distance * speeds).sum(), abs=0.006)


def test_the_cosines_of_a_table_are_those_of_torch():
    scene = scene_of("minilm-l6")
    blocks = shown(scene, scheme="table")
    table_of_model = load("minilm-l6")._stack.module.embeddings.position_embeddings.weight.detach()[:64]
    wanted = torch.nn.functional.cosine_similarity(table_of_model[:, None], table_of_model[None], dim=-1).numpy()
    np.testing.assert_allclose(figure(blocks, "likeness").values, wanted, atol=1e-5)
    facts = facts_in(told(blocks), "positions/learned", "positions/likeness")
    assert facts["count"] == 512
    assert facts["neighbours"] == pytest.approx(np.diagonal(wanted, 1).mean(), abs=0.006)


def test_a_table_that_was_computed_is_not_said_to_be_learnt_and_no_table_is_said_so():
    assert tells(prose(shown(scene_of("toy"), scheme="table")), "positions/given")
    blocks = shown(scene_of("smollm2-135m"), scheme="table")
    assert any("no position vectors" in block.sentence for block in blocks if isinstance(block, Notice))


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_scores_of_a_text_that_is_shifted_stay(shift):
    scene = scene_of("smollm2-135m", layer=13, head=4)
    blocks = shown(scene, scheme="rotary", shift=shift)
    before, after = (figure(blocks, key).values for key in ("scores_before", "scores_shifted"))
    np.testing.assert_allclose(before, scene.steps.scores, atol=2e-3)
    np.testing.assert_allclose(after, before, atol=2e-3)
    difference = np.abs(after - before).max()
    facts = facts_in(told(blocks), "positions/shifted")
    assert float(facts["difference"]) == pytest.approx(difference, rel=0.06, abs=1e-12)


def test_the_arrows_of_all_pairs_give_the_score():
    for scene in (scene_of("smollm2-135m"), scene_of("toy"), None):
        dials = figure(shown(scene, scheme="rotary"), "dials")
        assert isinstance(dials, Dials)
        sums = [float(caption[2].rsplit(" ", 1)[1].replace("−", "-")) for caption in dials.captions]
        np.testing.assert_allclose(sums, (dials.query * dials.key).sum(axis=1), atol=0.006)
    # The random ones have as many pairs as there are dials, and are said to be random.
    blocks = shown(None, scheme="rotary")
    assert "drawn at random" in prose(blocks)
    facts = facts_in(told(blocks), "positions/shifted")
    assert (facts["key"], facts["before"]) == ("k1", pytest.approx(sum(sums), abs=0.05))
    assert "drawn at random" not in prose(shown(scene_of("smollm2-135m"), scheme="rotary"))


@pytest.mark.parametrize(("layer", "head", "word"), [(3, 2, 4), (12, 0, 6), (29, 8, 0)])
def test_a_query_and_a_key_are_moved_apart_and_where_they_stand_is_their_score(layer, head, word):
    scene = scene_of("smollm2-135m", layer=layer, head=head, word=word)
    blocks = shown(scene, scheme="rotary")
    (curve,) = figure(blocks, "apart").figure.data
    others = scene.steps.weights[word].copy()
    others[word] = -1
    key = int(others.argmax())
    assert current(curve) == abs(word - key)
    assert len(curve.y) == 64
    np.testing.assert_allclose(curve.y[current(curve)], scene.steps.scores[word, key], atol=2e-3)
    # Apart by nothing, they are multiplied as they were before the rotation.
    queries, keys = scene.attention.projected(head)
    np.testing.assert_allclose(curve.y[0], queries[word] @ keys[key], atol=2e-3)
    np.testing.assert_array_equal(column(table(blocks, "apart_table"), "q · k"), curve.y)
    assert f"{current(curve)} place" in prose(blocks)


@pytest.mark.parametrize(
    ("kind", "is_normed", "first"),
    # Qwen 3 normalises each head, OLMo 2 all together; Cohere pairs neighbours; GPT-NeoX rotates half of its numbers.
    [("qwen3", True, [0, 6]), ("olmo2", True, [0, 4]), ("cohere", False, [0, 1]), ("gpt_neox", False, [0, 3])],
)
def test_what_is_rotated_is_what_the_model_rotates_after_its_norm(model_of, kind, is_normed, first):
    scene = HeadContext(model_of(kind).trace("The cat sat on the mat"), 1, 1, 4)
    assert np.allclose(scene.projected[0][4], scene.unrotated[0][4], atol=1e-2) != is_normed
    blocks = shown(scene, scheme="rotary")
    (curve,) = figure(blocks, "apart").figure.data
    key = 4 - current(curve)
    np.testing.assert_allclose(curve.y[current(curve)], scene.steps.scores[4, key], atol=1e-4)
    dials = figure(blocks, "dials")
    np.testing.assert_allclose(dials.query[0], scene.steps.queries[4, first], atol=1e-4)
    np.testing.assert_allclose(dials.key[0], scene.steps.keys[key, first], atol=1e-4)
    # A cell of the step is explained by the same pair.
    explained = step_of("qkv").detail(replace(scene, cell=Cell("queries", 4, first[1])))
    assert sum(explained.parts) == pytest.approx(scene.steps.queries[4, first[1]], abs=1e-5)
    facts = facts_in(explained.note, "qkv/cell-turned")
    assert [facts["first"], facts["second"]] == first


def test_in_a_long_text_the_line_reaches_as_far_as_the_two_stand_apart():
    scene = HeadContext(load("smollm2-135m").trace("one two three four five " * 20), 0, 0, 95)
    (curve,) = figure(shown(scene, scheme="rotary"), "apart").figure.data
    assert len(curve.y) == max(64, current(curve) + 1)
    key = 95 - current(curve)
    np.testing.assert_allclose(curve.y[current(curve)], scene.steps.scores[95, key], atol=2e-2)


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
@pytest.mark.parametrize("slope", [1, 8])
def test_the_weights_with_a_penalty_are_those_of_torch(model_id, slope):
    scene = scene_of(model_id)
    blocks = shown(scene, scheme="alibi", slope=slope)
    places = torch.arange(len(scene.tokens))
    bias = -(2.0**-slope) * (places[:, None] - places).abs()
    scores = torch.tensor(scene.steps.queries @ scene.steps.keys.T) * scene.attention.scale + bias
    weights = torch.softmax(scores + torch.tensor(np.array(scene.steps.mask)), dim=-1).numpy()
    drawn = figure(blocks, "alibi_weights")
    np.testing.assert_allclose(np.nan_to_num(drawn.values), weights, atol=1e-5)
    away = (weights * (places[:, None] - places).abs().numpy()).sum(axis=1)
    np.testing.assert_allclose(column(table(blocks, "away_table"), "mean distance with ALiBi"), away, atol=1e-4)


def test_the_buckets_of_a_sentence_are_counted():
    scene = scene_of("minilm-l6")
    blocks = shown(scene, scheme="t5")
    n_tokens = len(scene.tokens)
    square = figure(blocks, "buckets")
    # None of these distances is so far that it shares its number.
    assert n_tokens <= 9
    for row in range(n_tokens):
        assert square.values[row].tolist() == [16 * (key > row) + abs(key - row) for key in range(n_tokens)]
    assert f"{n_tokens**2} scores share {2 * n_tokens - 1} numbers" in prose(blocks)
    buckets = table(blocks, "buckets_table")["keys before the query"]
    (first_of_last,) = [distance for distance in range(1, 140) if buckets[distance] == "15" != buckets[distance - 1]]
    assert says(prose(blocks), first_of_last)


def test_a_model_that_has_learnt_such_numbers_shows_its_own():
    scene = scene_of("toy")
    places = np.arange(7)
    bias = np.stack([head - abs(places - places[:, None]) ** 2 for head in range(3)]).astype(np.float32)
    layers = (replace(scene.attention, bias=bias),)
    biased = HeadContext(replace(scene.trace, layers=layers), 0, 1, 3)
    blocks = shown(biased, scheme="t5")
    np.testing.assert_array_equal(figure(blocks, "bias").values, bias[1])
    assert tells(prose(blocks), "positions/t5-own")


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (2, 0, 1)])
def test_shuffle_always_leads_to_another_order(order):
    row = figure(shown(scene_of("toy", " ".join(["red", "sun", "sea"][: len(order)])), order=order), "orders").row
    assert row[0].parts["order"] != ORDER.kind.write(order)


def test_a_model_that_was_trained_with_alibi_is_not_said_to_be_without(model_of):
    trace = model_of("bloom").trace("The old dog ran to the small tree")
    n_heads, n_tokens = trace.info.n_heads, len(trace.tokens)
    # transformers' own: a penalty for every key, of which only differences count.
    theirs = build_alibi_tensor(torch.ones(1, n_tokens), n_heads, torch.float32)[:, 0]
    for head in range(n_heads):
        assert not tells(prose(shown(HeadContext(trace, 1, head, 2), scheme="t5")), "positions/t5-own")
        blocks = shown(HeadContext(trace, 1, head, 2), scheme="alibi")
        assert not tells(prose(blocks), "positions/alibi-not-own")
        facts = facts_in(told(blocks), "positions/alibi-own")
        assert facts["own"] == pytest.approx(float(theirs[head, 1] - theirs[head, 0]), abs=6e-5)
    assert tells(prose(shown(scene_of("smollm2-135m"), scheme="alibi")), "positions/alibi-not-own")
