"""What is taught: every number in a sentence is a number of the trace, and every cell is explained by what made it."""

import csv
import html
import io
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from attention import steps
from attention.figures.matrix import Cell
from attention.lesson.excerpt import Excerpt
from attention.lesson.heads import head_thumbs
from attention.lesson.neuron import neuron, sum_in_writing, value_picture
from attention.lesson.proof import TOLERANCE, prove
from attention.lesson.prose import LESSONS, exact, fact, lesson, word
from attention.lesson.savings import shared, shared_pictures
from attention.lesson.scene import Scene
from attention.lesson.steps import STEPS, keys, number_of, step_of
from attention.lesson.steps.softmax import tell_weights
from attention.lesson.survey import Look, head_matrix
from attention.lesson.tables import matrix_table, to_csv, token_table
from attention.masks import MASK_NAMES
from attention.models import load
from attention.snippets import LIBRARIES
from attention.text import clean
from attention.trace import PARTS, Embeddings, LayerTrace, ModelInfo, Projections, Token, Trace

TEXT = "The cat sat on the mat"
TOY = load("toy")
anything = st.text(st.characters())


@pytest.fixture(scope="module")
def scene_of(minilm, smollm2):
    """Make a scene of one of the models; of the translator, in one of its parts."""
    translator = load("translator-fr-en")
    models = {"toy": TOY, "minilm-l6": minilm, "smollm2-135m": smollm2, "translator-fr-en": translator}

    def make(model_id="toy", text=TEXT, *, mask="none", layer=0, head=0, at=None, cell=None, part="encoder"):
        trace = trace_of(models[model_id], text, mask).part(part)
        return Scene(trace, layer, head, len(trace.tokens) // 2 if at is None else at, cell)

    return make


@cache
def trace_of(model, text, mask):
    return model.trace(text, mask=mask)


# ------------------------------------------------------------------------- reading a text back


PARAGRAPH = "\0"


class Reader(HTMLParser):
    """The text of some HTML, as a browser shows it, and the elements that are in it."""

    def __init__(self):
        super().__init__()
        self.text, self.tags = "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag == "p":
            self.text += PARAGRAPH

    def handle_data(self, data):
        self.text += data


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def shown(markup):
    """The text, one line for each paragraph."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in read(markup).text.split(PARAGRAPH))
    return "\n".join(filter(None, paragraphs))


@cache
def pattern_of(name):
    """The text of a lesson as a regular expression with a group for each place that takes a fact."""
    whole = shown(MarkdownIt("commonmark", {"html": True}).render((LESSONS / f"{name}.md").read_text()))
    seen = set()

    def group(match):
        place = match[1]
        if place in seen:
            return f"(?P={place})"
        seen.add(place)
        return f"(?P<{place}>.+?)"

    return re.compile("^" + re.sub(r"\\\$([a-z_]+)", group, re.escape(whole)) + "$", re.MULTILINE)


def cell_number(written):
    """The number in a cell of a table, where a 0 may say why it is one."""
    return parsed(written.removesuffix(" (masked)"))


def facts_in(markup, *names):
    """The facts in a text, by the name of their place; numbers as numbers."""
    facts = {}
    for name in names:
        match = pattern_of(name).search(shown(markup))
        assert match is not None, f"{name} is not told in: {shown(markup)}"
        facts |= {place: parsed(value) for place, value in match.groupdict().items()}
    return facts


def parsed(value):
    value = value.replace("−", "-").replace("∞", "inf")
    return float(value) if re.fullmatch(r"-?(\d+(\.\d+)?|inf)", value) else value


def equals(scene, row, value):
    """The labels of the tokens that have this value; the toy likes both neighbours of a word the same."""
    return {scene.names[place] for place in np.flatnonzero(np.abs(row - value) < 1e-4)}


def rounded(value, decimals=2):
    """What a number looks like with so many decimals, give or take the last digit's half."""
    return pytest.approx(float(value), abs=0.5 * 10**-decimals + 1e-6)


PLACES = [
    ("toy", "none", 0, 0, 2),
    ("toy", "causal", 0, 1, 5),
    ("toy", "padding", 0, 2, 1),
    ("minilm-l6", "none", 5, 6, 3),
    ("minilm-l6", "causal", 0, 0, 6),
    ("minilm-l6", "padding", 2, 11, 0),
    ("smollm2-135m", "none", 13, 8, 2),
    ("smollm2-135m", "causal", 0, 4, 5),
    ("smollm2-135m", "padding", 29, 3, 3),
]


@pytest.fixture(params=PLACES, ids=lambda place: "-".join(map(str, place)))
def scene(request, scene_of):
    model_id, mask, layer, head, at = request.param
    return scene_of(model_id, mask=mask, layer=layer, head=head, at=at)


# ------------------------------------------------------------------------------- the course


def test_there_are_nine_steps_each_with_a_key_a_name_a_heading_a_formula_and_code():
    assert len(STEPS) == 9
    for values in zip(*((step.key, step.name, step.heading(None), step.formula(None)) for step in STEPS), strict=True):
        assert len(set(values)) == 9
        assert all(values)
    assert keys() == ("tokens", "embed", "qkv", "scores", "scale", "mask", "softmax", "sum", "heads")
    assert [step_of(key) for key in keys()] == list(STEPS)
    assert [number_of(step) for step in STEPS] == list(range(1, 10))


def test_a_step_that_there_is_not_raises():
    with pytest.raises(ValueError, match=r"step must be one of tokens, .*, heads, got 'nothing'"):
        step_of("nothing")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_formulas_open_and_close_what_they_open(step):
    for latex in (step.formula(None),):
        assert latex.count("{") == latex.count("}")
        assert latex.count("(") == latex.count(")")
        assert "$" not in latex


def test_from_scores_to_sum_one_formula_lights_up_part_by_part():
    formulas = {step.key: step.formula(None) for step in STEPS[3:8]}
    grey = re.compile(r"\\textcolor\{#868e99\}")
    plain = {key: re.sub(r"\\textcolor\{#\w+\}|[{}]", "", latex) for key, latex in formulas.items()}
    assert len(set(plain.values())) == 1
    assert len(set(formulas.values())) == 5
    assert all(grey.search(latex) for latex in formulas.values())


def test_the_formula_of_the_vectors_is_what_the_model_does(scene_of):
    embed = step_of("embed")
    assert "LayerNorm" not in embed.formula(scene_of("toy"))
    assert "LayerNorm" in embed.formula(scene_of("minilm-l6"))
    assert "segment" in embed.formula(scene_of("minilm-l6"))
    assert "output of layer 2" in embed.formula(scene_of("minilm-l6", layer=2))
    assert step_of("scores").formula(scene_of("minilm-l6", layer=2)) == step_of("scores").formula(None)


# --------------------------------------------------------------------------- no text without facts

USED_TAGS = {"p", "strong", "em", "code", "b", "bdi", "sub", "sup"}


@pytest.mark.parametrize("step", keys())
def test_no_place_for_a_fact_stays_empty_and_no_mark_of_markdown_stays(scene, step):
    told = step_of(step).words(scene)
    assert "$" not in shown(told)
    assert "*" not in shown(told)
    assert "nan" not in shown(told)
    assert {tag for tag, _ in read(told).tags} <= USED_TAGS


@pytest.mark.parametrize("step", keys())
def test_every_step_speaks_of_the_word_in_focus_by_its_name(scene, step):
    assert re.search(rf"(?<!\w){re.escape(scene.focus.text)}(?!\w)", shown(step_of(step).words(scene)))


def test_every_lesson_text_is_told_somewhere():
    """A text that nothing shows would be a promise to nobody."""
    sources = "".join(path.read_text() for path in (LESSONS.parents[1] / "attention").rglob("*.py"))
    for path in LESSONS.glob("*.md"):
        stems = [path.stem[:end] for end in range(len(path.stem), 2, -1)]
        # A name is written out, or its beginning is, before a place in braces: f"detail-{name}".
        assert any(f'"{stem}"' in sources or f'"{stem}{{' in sources for stem in stems), path.name


def test_a_place_without_a_fact_raises():
    with pytest.raises(KeyError):
        lesson("scores", focus="x")


# ---------------------------------------------------------------- every number told is the trace's


def test_tokens_are_counted_and_the_word_in_focus_has_its_place(scene_of):
    scene = scene_of("minilm-l6", at=3)
    told = step_of("tokens").words(scene)
    assert facts_in(told, "tokens") == {
        "model": "BERT",
        "count": 8,
        "tokens": "tokens",
        "focus": "sat",
        "position": 3,
    }
    assert facts_in(told, "tokens-special") == {"specials": "[CLS], [SEP]"}
    assert pattern_of("tokens-pad").search(shown(told)) is None


def test_what_the_toy_says_of_a_word_is_its_word_part(scene_of):
    scene = scene_of("toy", at=1)
    facts = facts_in(step_of("tokens").words(scene), "tokens-features")
    said = dict(re.findall(r"([a-z ]+?) (\d\.\d\d)(?:, |$)", facts.pop("features")))
    assert facts.pop("source") == "It reads that in its lexicon."
    assert facts == {"model": "Toy", "count": 6, "tokens": "tokens", "focus": "cat", "position": 1}
    features = dict(zip(scene.info.feature_names, scene.trace.embeddings.words[1], strict=True))
    assert {name: float(value) for name, value in said.items()} == {n: v for n, v in features.items() if v}


@pytest.mark.parametrize(
    ("typed", "source"),
    [
        ("dog", "It reads that in its lexicon."),
        ("neighbour's", "Its lexicon does not have this form"),
        ("quokka", "it guesses that from how the word ends"),
        ("12345", "by what kind of sign this is"),
    ],
)
def test_the_toy_says_from_where_it_knows_what_it_says_of_this_very_word(scene_of, typed, source):
    scene = scene_of("toy", f"My {typed} sleeps", at=1)
    assert scene.focus.typed == typed
    assert source in facts_in(step_of("tokens").words(scene), "tokens-features")["source"]


def test_a_word_that_was_cut_is_told_with_its_pieces(scene_of):
    scene = scene_of("minilm-l6", "Unbelievable zyzzyvas", at=2)
    facts = facts_in(step_of("tokens").words(scene), "tokens-pieces")
    pieces = [token.text for token in scene.tokens if token.typed in "zyzzyvas" and token.typed]
    assert facts == {"word": "zyzzyvas", "pieces": " + ".join(pieces)}
    assert len(pieces) > 1


def test_a_token_that_was_typed_is_not_said_to_be_the_models_own(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", "the [MASK] sat"))
    assert facts_in(told, "tokens-special") == {"specials": "[CLS], [SEP]"}
    assert pattern_of("tokens-mask-token").search(shown(told))


def test_padding_is_told(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", mask="padding"))
    assert facts_in(told, "tokens-special")["specials"] == "[CLS], [SEP], [PAD]"
    assert facts_in(told, "tokens-pad") == {"pad": "[PAD]", "times": "3 times"}


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en"])
def test_padding_is_no_part_of_the_sentence_and_what_is_written_is_no_sentence(scene_of, model_id):
    text = "le chat noir dort" if model_id == "translator-fr-en" else TEXT
    name = "tokens-features" if model_id == "toy" else "tokens"
    without, padded = (scene_of(model_id, text, mask=mask) for mask in ("none", "padding"))
    assert len(padded.tokens) > len(without.tokens)
    for scene in (without, padded):
        assert facts_in(step_of("tokens").words(scene), name)["count"] == len(without.tokens)
    if model_id == "translator-fr-en":
        cross = scene_of(model_id, text, mask="padding", part="cross", at=1)
        assert facts_in(step_of("tokens").words(cross), "tokens-cross")["keys"] == len(without.tokens)
        written = scene_of(model_id, text, part="decoder", at=1)
        told = step_of("tokens").words(written)
        assert facts_in(told, "tokens-written")["count"] == len(written.tokens[1:])
        assert facts_in(told, "tokens-written")["first"] == written.tokens[0].text
        assert "sentence" not in shown(told)


def test_one_token_is_said_to_be_one_and_no_mask_is_named_that_there_is_not(scene_of):
    scene = scene_of("toy", "Hello", at=0)
    told = shown(step_of("scale").words(scene))
    assert facts_in(step_of("scale").words(scene), "scale-lone") == {"focus": "hello"}
    assert "mask" not in told
    assert "spread" not in told
    assert "1 tokens" not in shown(step_of("tokens").words(scene))


def test_what_bert_does_not_know_is_told_as_it_was_typed(scene_of):
    told = step_of("tokens").words(scene_of("minilm-l6", "the 🦖 sat"))
    assert facts_in(told, "tokens-unk") == {"typed": "🦖"}


def test_the_parts_of_a_vector_have_the_lengths_that_are_told(scene_of):
    for model_id in ("toy", "minilm-l6"):
        scene = scene_of(model_id, at=3)
        told, parts = step_of("embed").words(scene), scene.trace.embeddings
        assert facts_in(told, "embed-first") == {
            "width": scene.info.d_model,
            "focus": scene.tokens[3].text,
            "position": 3,
            "word_length": rounded(np.linalg.norm(parts.words[3])),
            "position_length": rounded(np.linalg.norm(parts.positions[3])),
            "length": rounded(np.linalg.norm(scene.attention.inputs[3])),
        }
        assert bool(pattern_of("embed-norm").search(shown(told))) == (model_id == "minilm-l6")
        word, place = parts.words[3].astype(float), parts.positions[3].astype(float)
        cosine = word @ place / np.linalg.norm(word) / np.linalg.norm(place)
        assert facts_in(told, "embed-lengths") == {
            "focus": scene.tokens[3].text,
            "cosine": rounded(cosine),
            "angle": rounded(np.degrees(np.arccos(cosine))),
            "together": rounded(np.linalg.norm(word + place)),
        }
        assert is_told("embed-segment", told) == (parts.segments is not None)
        if parts.segments is not None:
            assert facts_in(told, "embed-segment")["length"] == rounded(np.linalg.norm(parts.segments[3]))


def test_deeper_vectors_have_the_length_and_the_neighbour_that_are_told(scene_of):
    scene = scene_of("minilm-l6", layer=4, at=3)
    inputs = scene.trace.hidden_states[4].astype(float)
    unit = inputs / np.linalg.norm(inputs, axis=1, keepdims=True)
    cosines = {token.text: float(unit[3] @ unit[token.position]) for token in scene.tokens if token.position != 3}
    nearest = max(cosines, key=cosines.get)
    assert facts_in(step_of("embed").words(scene), "embed-deeper") == {
        "layer": 5,
        "before": 4,
        "times": "4 times",
        "width": 384,
        "focus": "sat",
        "length": rounded(np.linalg.norm(inputs[3])),
        "nearest": nearest,
        "cosine": rounded(cosines[nearest]),
    }


def test_query_key_and_value_have_the_lengths_that_are_told(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    assert facts_in(step_of("qkv").words(scene), "qkv") == {
        "head": scene.head + 1,
        "width": scene.info.d_model,
        "d_head": head.queries.shape[1],
        "focus": scene.focus.text,
        "query": rounded(np.linalg.norm(head.queries[at])),
        "key": rounded(np.linalg.norm(head.keys[at])),
        "value": rounded(np.linalg.norm(head.values[at])),
    }


def test_the_best_and_the_worst_score_are_those_of_the_row(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    row = head.queries[at].astype(float) @ head.keys.T.astype(float)
    facts = facts_in(step_of("scores").words(scene), "scores")
    assert facts == {
        "focus": scene.focus.text,
        "best": facts["best"],
        "best_score": rounded(row.max()),
        "worst": facts["worst"],
        "worst_score": rounded(row.min()),
    }
    assert facts["best"] in equals(scene, row, row.max())
    assert facts["worst"] in equals(scene, row, row.min())


def test_the_spread_before_and_after_scaling_is_that_of_the_scores(scene):
    head = scene.trace.layers[scene.layer].head(scene.head)
    d_head = head.queries.shape[1]
    scores = head.queries.astype(float) @ head.keys.T.astype(float)
    assert facts_in(step_of("scale").words(scene), "scale", "scale-spread") == {
        "d_head": d_head,
        "divisor": rounded(np.sqrt(d_head)),
        "before": rounded(scores.std()),
        "after": rounded(scores.std() / np.sqrt(d_head)),
    }


# The same in every row; which tokens are hidden is worked out here from what a mask is, not from the record.
MASKED_PLACES = [
    *(("toy", mask, "encoder", 0, head) for mask in MASK_NAMES for head in range(3)),
    *(("minilm-l6", mask, "encoder", layer, 6) for mask in MASK_NAMES for layer in (0, 5)),
    *(("smollm2-135m", mask, "encoder", layer, 8) for mask in MASK_NAMES for layer in (0, 13)),
    *(("translator-fr-en", mask, part, 0, 1) for mask in MASK_NAMES for part in PARTS),
]


@pytest.mark.parametrize("place", MASKED_PLACES, ids=lambda place: "-".join(map(str, place)))
def test_the_weight_without_scaling_is_torchs_softmax_of_what_the_row_may_see(scene_of, place):
    model_id, mask, part, layer, head = place
    text = "le chat noir dort" if part != "encoder" or model_id == "translator-fr-en" else TEXT
    whole = scene_of(model_id, text, mask=mask, layer=layer, head=head, at=0, part=part)
    scores = torch.tensor(whole.steps.queries) @ torch.tensor(whole.steps.keys).T
    is_padding = torch.tensor([token.is_padding for token in whole.key_tokens])
    rows, columns = scores.shape
    # In cross-attention, "causal" is about the text that is read, and hides nothing from the one that is written.
    is_causal = part != "cross" and (mask == "causal" or model_id == "smollm2-135m" or part == "decoder")
    later = torch.arange(columns) > torch.arange(rows)[:, None] if is_causal else torch.zeros(rows, columns).bool()
    hidden = later | is_padding
    without, with_it = (
        torch.softmax((scores * scale).masked_fill(hidden, -torch.inf), dim=-1)
        for scale in (1, whole.steps.queries.shape[1] ** -0.5)
    )
    for row in range(rows):
        scene = replace(whole, word=row)
        n_hidden = int(hidden[row].sum())
        told = step_of("scale").words(scene)
        if columns - n_hidden == 1:
            assert facts_in(told, "scale-one") == {"focus": scene.names[row], "best": scene.key_names[0]}
            continue
        name = "scale-softmax-masked" if n_hidden else "scale-softmax"
        facts = facts_in(told, name)
        best = scene.key_names.index(facts["best"])
        assert not hidden[row, best]
        assert with_it[row, best] == pytest.approx(float(with_it[row].max()), abs=1e-5)
        assert facts["weight_unscaled"] == rounded(without[row, best])
        assert facts["weight_scaled"] == rounded(with_it[row, best])
        if n_hidden:
            assert (facts["visible"], facts["hidden"]) == (columns - n_hidden, n_hidden)


def test_a_word_that_sees_nothing_has_no_weight_that_scaling_could_change():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    blind = Scene(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    assert facts_in(step_of("scale").words(blind), "scale-nothing") == {"focus": "sat"}


@pytest.mark.parametrize("model_id", ["smollm2-135m", "translator-fr-en"])
def test_a_highest_score_that_will_be_hidden_is_said_to_be(scene_of, model_id):
    text, part = ("le chat noir dort", "decoder") if model_id == "translator-fr-en" else (TEXT, "encoder")
    n_told = 0
    for layer, head in np.ndindex(2, 4):
        whole = scene_of(model_id, text, layer=layer, head=head, at=0, part=part)
        for row in range(len(whole.tokens)):
            scene = replace(whole, word=row)
            scores = scene.steps.queries[row].astype(float) @ scene.steps.keys.T.astype(float)
            told = step_of("scores").words(scene)
            is_told = pattern_of("scores-hidden").search(shown(told)) is not None
            assert is_told == (scores.argmax() > row)
            n_told += is_told
            if is_told:
                facts = facts_in(told, "scores-hidden")
                assert facts["best"] == scene.key_names[scores.argmax()]
                assert facts["left"] == scene.key_names[scores[: row + 1].argmax()]
                assert facts["score"] == rounded(scores[: row + 1].max())
    assert n_told > 5


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6"])
def test_what_a_mask_hides_is_counted(scene_of, model_id):
    n = len(scene_of(model_id).tokens)
    shown_of = {"none": n, "causal": 3, "padding": n}
    for mask in MASK_NAMES:
        told = facts_in(step_of("mask").words(scene_of(model_id, mask=mask, at=2)), f"mask-{mask}")
        total = n + 3 if mask == "padding" else n
        hidden = {"none": 0, "causal": n * (n - 1) // 2, "padding": 3 * total}[mask]
        assert told["total"] == total
        assert told.get("visible", n) == shown_of[mask]
        # A mask of columns is told by what it hides, not by how many cells that are.
        assert told.get("hidden", hidden) == hidden


def test_what_a_decoder_hides_is_told_of_the_decoder_and_the_chosen_mask_of_what_is_read(scene_of):
    text = "le chat noir dort"
    for mask in ("none", "causal"):
        scene = scene_of("translator-fr-en", text, mask=mask, at=1, part="decoder")
        told = step_of("mask").words(scene)
        n = len(scene.tokens)
        wanted = {"focus": scene.names[1], "visible": 2, "total": n, "hidden": n * (n - 1) // 2}
        assert facts_in(told, "mask-written") == wanted
        # There the two are not the same: what was read is read with the chosen mask.
        assert "give the same" not in shown(told)
    none, causal = (scene_of("translator-fr-en", text, mask=m, layer=1, part="decoder") for m in ("none", "causal"))
    assert not np.allclose(none.steps.queries[0], causal.steps.queries[0], atol=1e-3)
    none, causal = (scene_of("smollm2-135m", mask=m, layer=9) for m in ("none", "causal"))
    np.testing.assert_array_equal(none.steps.scores, causal.steps.scores)


def test_a_mask_that_hides_nothing_is_not_called_none(scene_of):
    scene = Scene(TOY.trace(TEXT, mask=np.zeros((6, 6), np.float32)), 0, 0, 1)
    assert facts_in(step_of("mask").words(scene), "mask-nothing") == {"focus": "cat", "visible": 6, "total": 6}
    for mask in ("none", "causal"):
        alone = step_of("mask").words(scene_of("toy", "cat", mask=mask))
        assert facts_in(alone, "mask-lone") == {"focus": "cat"}
        cell = scene_of("toy", "cat", mask=mask, cell=Cell("masked", 0, 0))
        assert facts_in(step_of("mask").detail(cell).note, "detail-masked-lone") == {"query": "cat"}
        assert "tokens" not in shown(alone)


def test_a_mask_made_by_hand_is_told_with_its_own_count():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2, [0, 1, 4]] = hidden[5, 3] = -np.inf
    scene = Scene(TOY.trace(TEXT, mask=hidden), 0, 1, 2)
    assert facts_in(step_of("mask").words(scene), "mask-painted") == {
        "hidden": 4,
        "focus": "sat",
        "visible": 3,
        "total": 6,
    }
    explained = step_of("mask").detail(replace(scene, cell=Cell("masked", 2, 4)))
    assert facts_in(explained.note, "detail-masked-painted") == {"visible": 3, "total": 6}


def test_the_weights_that_are_told_are_the_two_highest_of_the_row(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    row = head.weights[at]
    first, second = sorted(row, reverse=True)[:2]
    assert tell_weights(scene) in step_of("softmax").words(scene)
    if second < 0.005:
        facts = facts_in(tell_weights(scene), "weights-alone")
        rest = facts.pop("rest")
        assert rest == (rounded(1 - first) if 1 - first >= 0.005 else "less than 0.005")
        assert facts == {"focus": scene.focus.text, "best": facts["best"], "best_weight": rounded(first)} | {
            "smallest": 0.005,
            "sum": 1,
        }
        return
    level = [key for key, weight in enumerate(row) if f"{weight:.2f}" == f"{first:.2f}"]
    if len(level) > 1:
        facts = facts_in(tell_weights(scene), "weights-tied")
        assert set(re.split(", | and ", facts.pop("tied"))) == {scene.key_names[key] for key in level}
        assert facts == {"focus": scene.names[at], "best_weight": rounded(first), "sum": 1}
        return
    facts = facts_in(tell_weights(scene), "weights")
    assert facts == {
        "focus": scene.focus.text,
        "best": facts["best"],
        "best_weight": rounded(first),
        "second": facts["second"],
        "second_weight": rounded(second),
        "sum": 1,
    }
    assert facts["best"] in equals(scene, row, first)
    assert facts["second"] in equals(scene, row, second)


@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
def test_no_runner_up_is_named_whose_weight_would_be_written_as_nothing(scene_of, model_id):
    whole = scene_of(model_id, at=0)
    n_alone = 0
    for layer, head, at in np.ndindex(min(whole.info.n_layers, 6), whole.info.n_heads, len(whole.tokens)):
        scene = Scene(whole.trace, layer, head, at)
        told = shown(tell_weights(scene))
        assert "with 0.00" not in told
        n_alone += "Every other token" in told
    assert n_alone > 0 or model_id == "toy"


def test_a_token_that_the_model_added_and_that_gets_most_is_told_with_its_mean_share(scene_of):
    scene = scene_of("minilm-l6", layer=5, head=6, at=3)
    weights = scene.steps.weights.astype(float)
    words = [1, 2, 4, 5, 6]
    best = max(words, key=lambda place: weights[3, place])
    assert scene.labels == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
    assert weights[3].argmax() == 0
    assert facts_in(step_of("softmax").words(scene), "weights-sink", "weights-words") == {
        "special": "[CLS]",
        "rows": "all rows",
        "share": rounded(weights[:, 0].mean()),
        "focus": "sat",
        "best_word": scene.names[best],
        "best_word_weight": rounded(weights[3, best]),
    }
    # The toy adds no tokens.
    assert "3.2" not in step_of("softmax").words(scene_of("toy"))


def is_told(name, markup):
    return pattern_of(name).search(shown(markup)) is not None


def test_the_first_token_of_a_decoder_is_told_to_be_a_sink_where_it_takes_most(scene_of):
    n_told = 0
    whole = scene_of("smollm2-135m", at=0)
    for layer, head, at in np.ndindex(30, 9, len(whole.tokens)):
        scene = Scene(whole.trace, layer, head, at)
        weights = scene.steps.weights.astype(float)
        # The first row has no choice: what it gives to itself says nothing.
        share, row = weights[1:, 0].mean(), weights[at]
        told = step_of("softmax").words(scene)
        assert is_told("weights-first", told) == (at > 0 and row.argmax() == 0 and share > 0.5)
        if not is_told("weights-first", told):
            continue
        n_told += 1
        facts = facts_in(told, "weights-first")
        assert (facts["special"], facts["share"]) == (scene.names[0], rounded(share))
        assert facts["rows"] == "the rows that may look at more than one token"
        others = [place for place in range(1, len(row)) if place != at]
        best = max(others, key=row.__getitem__)
        assert is_told("weights-words", told) == (row[best] >= 0.005)
        if row[best] >= 0.005:
            words = facts_in(told, "weights-words")
            assert words["best_word"] in equals(scene, row, row[best])
            assert words["best_word_weight"] == rounded(row[best])
    assert n_told > 300


def test_what_no_decoder_does_by_itself_is_no_sink_of_its_first_token(scene_of):
    """A causal mask that was chosen makes no decoder: nobody trained that model with it."""
    for model_id in ("toy", "minilm-l6"):
        for layer, head, at in np.ndindex(scene_of(model_id).info.n_layers, scene_of(model_id).info.n_heads, 6):
            scene = scene_of(model_id, mask="causal", layer=layer, head=head, at=at)
            assert not is_told("weights-first", step_of("softmax").words(scene))


DOG = "My neighbour's old dog sleeps under the kitchen table"


def test_a_row_that_gives_the_first_token_most_is_told_so_where_its_head_does_not(scene_of):
    n_told = 0
    whole = scene_of("smollm2-135m", DOG, at=0)
    for layer, head, at in np.ndindex(30, 9, len(whole.tokens)):
        scene = Scene(whole.trace, layer, head, at)
        weights = scene.steps.weights.astype(float)
        told, share = step_of("softmax").words(scene), weights[1:, 0].mean()
        assert is_told("weights-first-row", told) == (at > 0 and weights[at, 0] > 0.5 >= share)
        if is_told("weights-first-row", told):
            n_told += 1
            facts = facts_in(told, "weights-first-row")
            assert (facts["own"], facts["share"]) == (rounded(weights[at, 0]), rounded(share))
            assert not is_told("weights-first", told)
    assert n_told > 5


@pytest.mark.parametrize("model_id", ["minilm-l6", "smollm2-135m"])
def test_no_punctuation_mark_is_called_a_word(scene_of, model_id):
    n_told = 0
    whole = scene_of(model_id, "Stop! Is it a cat? No, it is a dog.", at=0)
    for layer, head, at in np.ndindex(6, whole.info.n_heads, len(whole.tokens)):
        scene = Scene(whole.trace, layer, head, at)
        told = step_of("softmax").words(scene)
        if is_told("weights-words", told):
            n_told += 1
            best = facts_in(told, "weights-words")["best_word"]
            assert not {scene.tokens[at].typed.strip(), scene.tokens[scene.names.index(best)].typed.strip()} & set(
                "!?,."
            )
    assert n_told > 20


def test_weights_that_read_the_same_are_told_as_level():
    level, order = Scene(TOY.trace(TEXT), 0, 0, 2), Scene(TOY.trace(TEXT), 0, 0, 0)
    row = level.steps.weights[2]
    assert f"{row[1]:.2f}" == f"{row[3]:.2f}" == f"{row.max():.2f}"
    assert set(facts_in(tell_weights(level), "weights-tied")["tied"].split(" and ")) == {"cat", "on"}
    assert facts_in(tell_weights(order), "weights")["best"] == "cat"


def test_a_word_that_sees_one_word_or_none_is_told_so():
    alone = Scene(TOY.trace(TEXT, mask="causal"), 0, 0, 0)
    assert facts_in(tell_weights(alone), "weights-one") == {"focus": "the (0)", "best": "the (0)", "best_weight": 1}
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    blind = Scene(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    assert facts_in(tell_weights(blind), "weights-none") == {"focus": "sat", "best_weight": 0}
    for step in keys():
        assert "nan" not in step_of(step).words(blind)


def test_the_largest_contribution_is_the_longest_weighted_value(scene):
    head, at = scene.trace.layers[scene.layer].head(scene.head), scene.word
    lengths = [float(np.linalg.norm(w * v)) for w, v in zip(head.weights[at], head.values, strict=True)]
    best, largest = scene.names[head.weights[at].argmax()], scene.names[int(np.argmax(lengths))]
    told = step_of("sum").words(scene)
    # Only another word is a surprise.
    assert ("But a value can be" in shown(told)) == (best != largest)
    assert facts_in(told, "sum" if best == largest else "sum-other") == {
        "focus": scene.focus.text,
        "share": rounded(100 * head.weights[at].max(), 0),
        "best": best,
        **({} if best == largest else {"largest": largest}),
        "largest_length": rounded(max(lengths)),
    }


def test_what_the_heads_change_is_the_output_of_the_layer(scene):
    layer, at = scene.trace.layers[scene.layer], scene.word
    width = layer.model_output.shape[-1]
    lengths = [
        float(np.linalg.norm(output[at] @ layer.projections.W_O[head * width : (head + 1) * width]))
        for head, output in enumerate(layer.model_output)
    ]
    joined = np.concatenate(list(layer.model_output[:, at]))
    bias = 0 if layer.projections.b_O is None else layer.projections.b_O
    told, group = step_of("heads").words(scene), scene.info.n_heads // scene.info.n_key_value_heads
    joining = facts_in(told, "heads-own" if group == 1 else "heads-shared")
    assert joining.pop("n_heads") == scene.info.n_heads
    has_bias = layer.projections.b_O is not None
    assert joining.pop("matrix") == ("WO, with a bias bO" if has_bias else "WO")
    assert joining == ({} if group == 1 else {"size": group, "n_groups": scene.info.n_key_value_heads})
    total = sum(lengths) + np.linalg.norm(bias)
    assert facts_in(told, "heads-lengths") == {
        "parts": "heads' parts and of the bias" if has_bias else "heads' parts",
        "total": rounded(total),
    }
    assert facts_in(told, "heads") == {
        "focus": scene.focus.text,
        "change": rounded(np.linalg.norm(joined @ layer.projections.W_O + bias)),
        # What the heads add to: where a norm stands before them, it is not what they are made of.
        "length": rounded(np.linalg.norm(scene.trace.hidden_states[scene.layer][at])),
        "largest": int(np.argmax(lengths)) + 1,
        "largest_length": rounded(max(lengths)),
    }


# ---------------------------------------------------------------- nothing typed is ever interpreted

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&amp;",
    "$focus",
    "${focus}",
    "**b**",
    "`x`",
    "a\"b'c",
]


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("model_id", ["toy", "minilm-l6", "smollm2-135m"])
def test_markup_in_a_sentence_is_shown_as_it_was_typed(scene_of, model_id, nasty):
    text = f"one {nasty} two"
    scene = scene_of(model_id, text)
    for at in range(len(scene.tokens)):
        here = replace(scene, word=at)
        for step in keys():
            told = step_of(step).words(here)
            assert {tag for tag, _ in read(told).tags} <= USED_TAGS
            assert word(here.names[here.word]) in told
            for name in (picture.name for picture in step_of(step).matrices(here)):
                explained = step_of(step).detail(replace(here, cell=Cell(name, 0, 0)))
                assert {tag for tag, _ in read(explained.title + explained.note).tags} <= USED_TAGS


@given(anything)
def test_any_token_is_told_as_text_and_nothing_but_text(typed):
    told = word(typed)
    assert [tag for tag, _ in read(told).tags] == ["bdi"]
    assert html.unescape(told.removeprefix("<bdi>").removesuffix("</bdi>")).startswith(typed[:32])
    assert len(told) <= 32 * len("&quot;") + len("<bdi></bdi>…")


@given(anything, st.sampled_from(MASK_NAMES), st.data())
def test_any_sentence_is_told_whole(typed, mask, data):
    text = clean(typed)
    assume(any(character.isalnum() for character in text))
    trace = TOY.trace(text, mask=mask)
    scene = Scene(trace, 0, data.draw(st.integers(0, 2)), data.draw(st.integers(0, len(trace.tokens) - 1)))
    for step in keys():
        told = step_of(step).words(scene)
        assert {tag for tag, _ in read(told).tags} <= USED_TAGS
        explained = step_of(step).detail(step_of(step).opened(scene))
        if explained is not None:
            assert {tag for tag, _ in read(explained.title + explained.note).tags} <= USED_TAGS


# ------------------------------------------------------------------------- where a cell comes from


def cells_of(step, scene):
    """Every cell that can be clicked at a step, and the number that stands in it."""
    for picture in step_of(step).matrices(scene):
        for row, column in np.ndindex(picture.values.shape):
            yield Cell(picture.name, row, column), float(picture.values[row, column])


def sampled_cells_of(step, scene):
    generator = np.random.default_rng(0)
    for picture in step_of(step).matrices(scene):
        for flat in generator.choice(picture.values.size, 12, replace=False):
            row, column = np.unravel_index(flat, picture.values.shape)
            yield Cell(picture.name, int(row), int(column)), float(picture.values[row, column])


CLOSE = {"rel": 1e-4, "abs": 1e-4}
# The detail's title, and in which of its places the number of the cell stands.
TITLES = {
    "inputs": ("detail-input", "value"),
    "words": ("detail-words", "value"),
    "positions": ("detail-positions", "value"),
    "queries": ("detail-queries", "value"),
    "keys": ("detail-keys", "value"),
    "values": ("detail-values", "value"),
    "projected_queries": ("detail-projected", "value"),
    "projected_keys": ("detail-projected", "value"),
    "stream": ("detail-stream", "value"),
    "scores": ("detail-scores", "value"),
    "scaled": ("detail-scaled", "value"),
    "masked": ("detail-masked", "value"),
    "weights": ("detail-weights", "value"),
    "outputs": ("detail-outputs", "value"),
    "joined": ("detail-joined", "value"),
    "change": ("detail-change", "value"),
}


def check_detail(step, scene, cell, value):
    """Everything that a detail says of a number must make that number."""
    explained = step_of(step).detail(replace(scene, cell=cell))
    said = explained.title + explained.note
    assert "$" not in shown(said)
    assert "nan" not in shown(said)
    assert len(explained.labels) == len(explained.parts)
    assert len(next(iter(explained.table().values()))) == len(explained.labels)

    is_product = cell.matrix == "contributions" and cell.row < len(scene.tokens)
    if cell.matrix == "weights" and np.isneginf(scene.steps.mask[cell.row, cell.column]):
        names = {"query": scene.names[cell.row], "key": scene.key_names[cell.column]}
        assert facts_in(explained.title, "detail-weights-hidden") == names
        visible = int(np.isfinite(scene.steps.mask[cell.row]).sum())
        assert facts_in(explained.note, "detail-hidden-note") == {"visible": visible, "total": len(scene.key_tokens)}
        assert explained.parts[cell.column] == value == 0
        return
    name, place = ("detail-contribution", "product") if is_product else TITLES.get(cell.matrix, TITLES["outputs"])
    if cell.matrix == "scores" and scene.attention.bias is not None:
        name = "detail-scores-biased"
    title = facts_in(explained.title, name)
    assert title[place] == rounded(value, 4 if is_product else 2)

    total = float(explained.parts.sum()) if len(explained.parts) else 0.0
    match cell.matrix:
        case "scores" | "outputs":
            assert total == pytest.approx(value, **CLOSE)
            if cell.matrix == "scores" and scene.attention.bias is not None:
                note = facts_in(explained.note, "detail-scores-bias")
                assert note["sum"] + note["bias"] == pytest.approx(value, abs=2e-4)
                assert note["count"] == len(explained.parts) - 1
        case "change":
            assert total == pytest.approx(value, **CLOSE)
            has_bias = scene.attention.projections.b_O is not None
            note = facts_in(explained.note, "detail-change-bias" if has_bias else "detail-change-note")
            assert note["count"] == scene.info.n_heads == len(explained.parts) - has_bias
        case "contributions":
            assert total == pytest.approx(float(scene.steps.head_outputs[scene.word, cell.column]), **CLOSE)
            if is_product:
                assert explained.parts[cell.row] == pytest.approx(value, **CLOSE)
                assert title["weight"] * title["value"] == pytest.approx(value, abs=1e-3, rel=1e-2)
        case "queries" | "keys" if scene.attention.rotary is not None:
            note = facts_in(explained.note, "detail-turned-note")
            assert total == pytest.approx(value, **CLOSE)
            assert note["second"] - note["first"] == 32
            assert cell.column in (note["first"], note["second"])
            projected = dict(zip(("queries", "keys"), scene.attention.projected(scene.head), strict=True))[cell.matrix]
            pair = projected[cell.row, cell.column % 32], projected[cell.row, cell.column % 32 + 32]
            assert (note["x"], note["y"]) == (rounded(pair[0], 4), rounded(pair[1], 4))
            # Turning keeps the length of the pair.
            turned = getattr(scene.steps, cell.matrix)[cell.row, [cell.column % 32, cell.column % 32 + 32]]
            assert np.hypot(*turned) == pytest.approx(np.hypot(*pair), **CLOSE)
        case "queries" | "keys" | "values" | "projected_queries" | "projected_keys":
            symbol = cell.matrix.removeprefix("projected_")
            bias = getattr(scene.attention.projections, f"b_{symbol[0].upper()}")
            note = facts_in(explained.note, "detail-projection-plain" if bias is None else "detail-projection-note")
            width = getattr(scene.steps, symbol).shape[1]
            group = 1 if symbol == "queries" else scene.info.n_heads // scene.info.n_key_value_heads
            offset = 0.0 if bias is None else float(bias[scene.head // group * width + cell.column])
            assert total + offset == pytest.approx(value, **CLOSE)
            assert note["sum"] == rounded(total, 4)
            if bias is not None:
                assert note["bias"] == rounded(offset, 4)
                assert note["total"] == pytest.approx(value, abs=2e-4)
            assert note["count"] == len(explained.parts) == scene.info.d_model
        case "inputs" if scene.attention.norm is not None:
            norm = scene.attention.norm
            note = facts_in(explained.note, "detail-input-layernorm" if norm.centred else "detail-input-rms")
            assert explained.parts[cell.column] == value
            assert note["value"] == rounded(value, 4)
            stream = scene.trace.hidden_states[scene.layer][cell.row].astype(float)
            assert note["stream"] == rounded(stream[cell.column], 4)
            mean = stream.mean() if norm.centred else 0
            size = np.sqrt(((stream - mean) ** 2).mean() + norm.epsilon)
            bias = norm.bias[cell.column] if norm.centred else 0
            assert (note.get("mean", 0), note.get("bias", 0)) == (rounded(mean, 4), rounded(bias, 4))
            assert note["size"] == pytest.approx(size, abs=1e-4)
            gain = norm.gain[cell.column]
            assert note["gain"] == rounded(gain, 4)
            assert (stream[cell.column] - mean) / size * gain + bias == pytest.approx(value, **CLOSE)
        case "inputs":
            if scene.layer or scene.trace.embeddings is None:
                assert explained.parts[cell.column] == value
            else:
                parts = scene.trace.embeddings
                known = [part for part in (parts.words, parts.positions, parts.segments) if part is not None]
                assert list(explained.parts) == [part[cell.row, cell.column] for part in known]
                is_sum = abs(total - value) < 1e-5
                note = facts_in(explained.note, "detail-input-sum" if is_sum else "detail-input-norm")
                assert note["sum"] == rounded(total, 4)
                assert note.get("value", value) == rounded(value, 4)
        case "words" | "positions" | "joined" | "stream":
            width = len(explained.parts)
            assert explained.parts[cell.column % width] == value
        case "scaled":
            assert explained.parts[1] == pytest.approx(value, **CLOSE)
            assert explained.parts[0] * scene.attention.scale == pytest.approx(value, **CLOSE)
            assert title["before"] == rounded(explained.parts[0])
            assert 1 / title["divisor"] == pytest.approx(scene.attention.scale, rel=1e-3)
        case "masked":
            assert title["mask"] == scene.steps.mask[cell.row, cell.column]
            if np.isfinite(value):
                assert explained.parts[cell.column] == value
                assert pattern_of("detail-masked-visible").search(shown(explained.note))
        case "weights":
            assert total == pytest.approx(1, abs=1e-5)
            assert explained.parts[cell.column] == value
            assert title["percent"] == rounded(100 * value, 0)
            note = facts_in(explained.note, "detail-weights-note")
            assert note["exponential"] / note["total"] == pytest.approx(value, abs=2e-4)
        case other:
            pytest.fail(f"nothing here checks how a cell of {other} is explained")


@pytest.mark.parametrize("mask", MASK_NAMES)
@pytest.mark.parametrize("head", range(3))
@pytest.mark.parametrize("step", keys())
def test_every_cell_of_the_toy_is_explained_by_what_made_it(scene_of, step, head, mask):
    scene = scene_of("toy", mask=mask, head=head, at=2)
    for cell, value in cells_of(step, scene):
        check_detail(step, scene, cell, value)


@pytest.mark.parametrize("step", keys())
def test_cells_of_bert_are_explained_by_what_made_them(scene, step):
    for cell, value in sampled_cells_of(step, scene):
        check_detail(step, scene, cell, value)


@pytest.mark.parametrize("kind", ["roberta", "gpt2", "bart", "t5", "vit"])
@pytest.mark.parametrize("step", keys())
def test_cells_of_other_architectures_are_explained_by_what_made_them(model_of, step, kind):
    text = "0123456789abcdef" * 4 if kind == "vit" else TEXT
    for layer, at in ((0, 2), (1, 4)):
        scene = Scene(trace_of(model_of(kind), text, "none"), layer, 1, at)
        for cell, value in sampled_cells_of(step, scene):
            check_detail(step, scene, cell, value)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_position_bias_is_said_to_be_in_the_scores(model_of, layer):
    scene = Scene(trace_of(model_of("t5"), TEXT, "none"), layer, 1, 2)
    told = step_of("scores").words(scene)
    bias = scene.attention.bias[1, 2]
    best = int(scene.steps.scores[2].argmax())
    assert facts_in(told, "scores-bias")["bias"] == rounded(bias[best])
    score = float(scene.steps.queries[2] @ scene.steps.keys[best] + bias[best])
    assert facts_in(told, "scores")["best_score"] == rounded(score)
    scaled = facts_in(step_of("scale").words(scene), "scale-none", "scale-spread-none")
    assert (scaled["after"], scaled["d_head"]) == (rounded(scene.steps.scores.std()), 12)
    assert " + B" in step_of("scores").formula(scene)
    assert "sqrt" not in step_of("softmax").formula(scene)
    assert [picture.title for picture in step_of("scores").matrices(scene)] == ["S = Q·Kᵀ + B"]
    assert [picture.title for picture in step_of("mask").matrices(scene)] == ["S + M"]


def test_a_scale_of_the_models_own_is_told(model_of):
    trace = trace_of(model_of("gpt2"), TEXT, "none")
    halved = replace(trace.layers[1], scale=trace.layers[1].scale / 2)
    told = facts_in(
        step_of("scale").words(Scene(replace(trace, layers=(halved,)), 0, 1, 2)), "scale-own", "scale-spread-own"
    )
    assert told["divisor"] == rounded(2 * np.sqrt(8))


def said_of_scaling(scene):
    """Everything that is said or written of the scores' scale: formulas, titles, shapes, sentences, code."""
    steps_of_it = [step_of(key) for key in ("scores", "scale", "mask", "softmax", "sum")]
    yield from (step.formula(scene) for step in steps_of_it)
    yield from (picture.title + picture.alt for step in steps_of_it for picture in step_of(step.key).matrices(scene))
    yield from (step_of(step.key).shapes(scene) for step in steps_of_it)
    yield sum_in_writing(scene, 1)
    yield neuron(scene, 1).divisor
    yield from (step_of("scale").code(Excerpt(library, scene, 2)) for library in LIBRARIES)


ROOT = re.compile(r"√|\\sqrt|d_k|dₖ")


@pytest.mark.parametrize(
    ("factor", "divisor", "heading_of_it"),
    [
        (1, None, "Make the scores smaller"),
        (0.5, "5.657", "Make the scores smaller"),
        (8**0.5, "", "Leave the scores as they are"),
        (2 * 8**0.5, "0.5", "Make the scores larger"),
    ],
)
def test_the_root_of_the_width_is_named_only_where_scores_are_divided_by_it(model_of, factor, divisor, heading_of_it):
    trace = trace_of(model_of("gpt2"), TEXT, "none")
    layer = replace(trace.layers[1], scale=factor * trace.layers[1].scale if divisor != "" else 1.0)
    scene = Scene(replace(trace, layers=(layer,)), 0, 1, 2)
    said = list(said_of_scaling(scene))
    assert step_of("scale").heading(scene) == heading_of_it
    if divisor is None:
        titles = [picture.title for key in ("scale", "mask") for picture in step_of(key).matrices(scene)]
        assert titles == ["Before: S", "After: S / √dₖ", "S / √dₖ + M"]
        assert r"/ \sqrt{d_k}" in step_of("scale").formula(scene)
        assert "(10×10) / √8 →" in step_of("scale").shapes(scene)
        return
    assert not [text for text in said if ROOT.search(text)]
    titles = [picture.title for key in ("scale", "mask", "softmax") for picture in step_of(key).matrices(scene)]
    scaled = f"S / {divisor}" if divisor else "S"
    assert titles == ["Before: S", f"After: {scaled}", f"{scaled} + M", f"A = softmax({scaled} + M)"]
    assert neuron(scene, 1).divisor == (divisor or "1")
    if divisor:
        assert f"/ {divisor}" in step_of("scale").formula(scene)
        assert f"(10×10) / {divisor} →" in step_of("scale").shapes(scene)
        assert float(divisor) == pytest.approx(1 / layer.scale, rel=1e-3)
        assert facts_in(step_of("scale").words(scene), "scale-own")["divisor"] == float(divisor)


@pytest.mark.parametrize(
    "kind",
    ["toy", "minilm-l6", "smollm2-135m", "gpt2", "roberta", "distilbert", "llama", "bart", "t5", "vit"],
)
@pytest.mark.parametrize("part", PARTS)
def test_a_bias_is_written_where_the_model_has_one_and_only_there(model_of, scene_of, kind, part):
    """Held against the numbers themselves: X·W alone, or with the bias, must be what was recorded."""
    if kind in ("toy", "minilm-l6", "smollm2-135m"):
        trace = scene_of(kind).trace
    else:
        trace = trace_of(model_of(kind), "0123456789abcdef" * 4 if kind == "vit" else TEXT, "none")
    if part != "encoder" and not trace.info.parts:
        return
    trace = trace.part(part)
    scene = Scene(trace, 0, 1, 2)
    layer, parts = scene.attention, scene.attention.projections
    letters = {"Q": ("queries", layer.inputs), "K": ("keys", layer.sources), "V": ("values", layer.sources)}
    latex = re.sub(r"\\textcolor\{#\w+\}|[{}]", "", step_of("qkv").formula(scene))
    titles = {picture.title for picture in step_of("qkv").matrices(scene)}
    told = shown(step_of("qkv").words(scene))
    for letter, (name, vectors) in letters.items():
        recorded = getattr(layer, name)
        plain = steps.split_heads(vectors @ getattr(parts, f"W_{letter}"), len(recorded))
        has_bias = not np.allclose(plain if letter == "V" else layer.turned(plain), recorded, atol=1e-4)
        source = "Z" if scene.is_cross and letter != "Q" else "X"
        assert (f"{source}W_{letter} + b_{letter}" in latex) == has_bias
        assert any(f"{source}·W_{letter} + b_{letter}" in title for title in titles) == has_bias
        assert any(f"{source}·W_{letter}" in title for title in titles)
        assert (f"b{letter}" in told) == has_bias
    assert ("+ b_Q" in step_of("qkv").shapes(scene)) == ("+ b_Q" in latex)
    joined = np.concatenate(list(layer.model_output), axis=1)
    has_bias = not np.allclose(joined @ parts.W_O, scene.change, atol=1e-4)
    assert ("b_O" in step_of("heads").formula(scene)) == has_bias
    assert ("b_O" in step_of("heads").shapes(scene)) == has_bias
    assert ("bO" in shown(step_of("heads").words(scene))) == has_bias


@pytest.mark.parametrize(
    ("kind", "latex", "name"),
    [
        ("gpt2", r"X = \mathrm{LayerNorm}(E_{\text{word}} + E_{\text{position}})", "embed-normed"),
        ("vit", r"X = \mathrm{LayerNorm}(E_{\text{patch}} + E_{\text{position}})", "embed-picture"),
        ("t5", r"X = \mathrm{RMSNorm}(E_{\text{word}})", "embed-bias"),
        ("llama", r"X = \mathrm{RMSNorm}(E_{\text{word}})", "embed-rotary"),
    ],
)
def test_what_enters_layer_1_is_told_as_each_architecture_makes_it(model_of, kind, latex, name):
    text = "0123456789abcdef" * 4 if kind == "vit" else TEXT
    trace = trace_of(model_of(kind), text, "none")
    first, second = Scene(trace, 0, 0, 2), Scene(trace, 1, 0, 2)
    assert step_of("embed").formula(first) == latex
    norm = trace.layers[0].norm.name
    told = facts_in(step_of("embed").words(first), name)
    assert told["norm"] == facts_in(step_of("embed").words(second), "embed-stream")["norm"] == norm
    assert told["stream_length"] == rounded(np.linalg.norm(trace.hidden_states[0][2]))
    assert told["length"] == rounded(np.linalg.norm(trace.layers[0].inputs[2]))
    assert is_told("embed-lengths", step_of("embed").words(first)) == (trace.embeddings.positions is not None)
    if name in ("embed-normed", "embed-picture"):
        assert told["position_length"] == rounded(np.linalg.norm(trace.embeddings.positions[2]))
    assert step_of("embed").matrices(second)[0].title == f"X: what enters layer 2, after {norm}"


def test_a_masked_cell_says_why_it_is_hidden(scene_of):
    for mask, reason in (("causal", "later"), ("padding", "padding")):
        scene = scene_of("minilm-l6", mask=mask, cell=Cell("masked", 1, 10 if mask == "padding" else 5))
        explained = step_of("mask").detail(scene)
        visible = int(np.isfinite(scene.steps.masked_scores[1]).sum())
        facts = facts_in(explained.note, f"detail-masked-{reason}")
        assert (facts["visible"], facts["total"]) == (visible, len(scene.tokens))
        assert facts_in(explained.title, "detail-masked")["value"] == -np.inf
        assert np.isfinite(explained.parts).all()


def test_a_row_that_sees_nothing_is_explained_without_a_division_by_zero():
    hidden = np.zeros((6, 6), np.float32)
    hidden[2] = -np.inf
    scene = Scene(TOY.trace(TEXT, mask=hidden), 0, 0, 2)
    explained = step_of("softmax").detail(replace(scene, cell=Cell("weights", 2, 1)))
    assert facts_in(explained.note, "detail-weights-masked") == {"query": "sat"}
    assert not explained.parts.any()
    assert prove(scene.trace).holds


def test_the_softmax_table_shows_how_each_weight_comes_about(scene):
    explained = step_of("softmax").detail(step_of("softmax").opened(scene))
    hidden = np.isneginf(scene.steps.mask[scene.word])
    assert [" (masked)" in cell for cell in explained.table()["weight"]] == hidden.tolist()
    table = {name: [cell_number(value) for value in column] for name, column in explained.table().items()}
    scores = scene.steps.masked_scores[scene.word]
    names = list(table)
    assert names == ["key", "score", "− maximum", "exp", "weight"]
    shifted = scores - scores.max()
    exponentials = np.exp(shifted)
    for name, wanted, decimals in zip(
        names[1:], (scores, shifted, exponentials, exponentials / exponentials.sum()), (2, 2, 4, 4), strict=True
    ):
        assert table[name] == [rounded(value, decimals) for value in wanted]
    assert sum(table["weight"]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("step", keys())
def test_a_step_opens_with_a_cell_of_its_own_picture_in_the_row_of_the_word(scene, step):
    opened = step_of(step).opened(scene)
    pictures = step_of(step).matrices(scene)
    if step == "tokens":
        assert opened.cell is None
        assert step_of(step).detail(opened) is None
        return
    assert any(picture.has(opened.cell) for picture in pictures)
    # Where a step shows what it starts from, too, the cell is one of what it makes.
    assert opened.cell.matrix == {"scale": "scaled", "heads": "change"}.get(step, pictures[0].name)
    if step in ("scores", "scale", "mask", "softmax"):
        assert opened.cell.row == scene.word
        assert opened.cell.column == int(scene.steps.weights[scene.word].argmax())


def test_a_cell_that_is_there_stays_open_and_one_that_is_not_gives_way(scene_of):
    scene = scene_of("toy")
    for cell, is_there in [
        (Cell("scores", 5, 5), True),
        (Cell("scores", 6, 0), False),
        (Cell("scores", 0, 6), False),
        (Cell("weights", 0, 0), False),
        (Cell("__class__", 0, 0), False),
    ]:
        opened = step_of("scores").opened(replace(scene, cell=cell))
        assert any(picture.has(cell) for picture in step_of("scores").matrices(scene)) == is_there
        assert (opened.cell == cell) == is_there


# ------------------------------------------------------------------------------------ the pictures


def test_every_picture_holds_the_arrays_of_the_trace(scene):
    head, layer = scene.trace.layers[scene.layer].head(scene.head), scene.trace.layers[scene.layer]
    at = scene.word
    wanted = {
        "qkv": {"queries": head.queries, "keys": head.keys, "values": head.values},
        "scores": {"scores": head.queries @ head.keys.T},
        "scale": {"scores": head.scores, "scaled": head.queries @ head.keys.T * layer.scale},
        "mask": {"masked": head.scaled_scores + head.mask},
        "softmax": {"weights": steps.softmax(head.masked_scores)},
        "sum": {
            "contributions": np.vstack([head.weights[at][:, None] * head.values, head.weights[at] @ head.values]),
            "outputs": head.weights @ head.values,
        },
        "heads": {"joined": np.concatenate(list(layer.model_output), axis=1), "change": layer.output()},
    }
    if layer.rotary is not None:
        projected = zip(("projected_queries", "projected_keys"), layer.projected(scene.head), strict=True)
        wanted["qkv"] |= dict(projected)
    for step, arrays in wanted.items():
        pictures = {picture.name: picture for picture in step_of(step).matrices(scene)}
        assert list(pictures) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_allclose(pictures[name].values, array, atol=1e-5, rtol=1e-5)


def test_what_enters_the_first_layer_is_shown_with_its_parts_and_deeper_vectors_with_their_positions(scene_of):
    parts = scene_of("minilm-l6").trace.embeddings
    first = {picture.name: picture.values for picture in step_of("embed").matrices(scene_of("minilm-l6"))}
    assert list(first) == ["inputs", "words", "positions"]
    assert np.array_equal(first["words"], parts.words)
    assert np.array_equal(first["positions"], parts.positions)
    deeper, positions = step_of("embed").matrices(scene_of("minilm-l6", layer=3))
    assert np.array_equal(deeper.values, scene_of("minilm-l6").trace.hidden_states[3])
    assert np.array_equal(positions.values, parts.positions)
    assert "before layer 1" in positions.title


@pytest.mark.parametrize("step", keys())
def test_every_picture_says_in_words_what_it_is_and_names_its_rows_by_the_tokens(scene, step):
    for picture in step_of(step).matrices(scene):
        assert len(picture.alt) > 20
        if not picture.has_total_row:
            assert picture.row_labels == scene.labels
        if picture.row_role == "query" and picture.column_role == "key":
            assert picture.column_labels == scene.labels
            assert f"layer {scene.layer + 1}, head {scene.head + 1}" in picture.alt


def hidden_by_rule(scene, mask):
    """Which keys are hidden, worked out from what a mask is, not from the record."""
    rows, columns = len(scene.tokens), len(scene.key_tokens)
    padding = np.array([token.is_padding for token in scene.key_tokens])
    is_causal = not scene.is_cross and (mask == "causal" or scene.info.is_decoder or scene.trace.is_written)
    later = np.arange(columns) > np.arange(rows)[:, None] if is_causal else np.zeros((rows, columns), bool)
    return later | padding


@pytest.mark.parametrize("place", MASKED_PLACES, ids=lambda place: "-".join(map(str, place)))
def test_what_the_mask_hides_stays_marked_wherever_weights_are_drawn(scene_of, place):
    model_id, mask, part, layer, head = place
    text = "le chat noir dort" if model_id == "translator-fr-en" else TEXT
    scene = scene_of(model_id, text, mask=mask, layer=layer, head=head, at=1, part=part)
    hidden = hidden_by_rule(scene, mask)
    weights, (contributions, outputs) = step_of("softmax").matrices(scene)[0], step_of("sum").matrices(scene)
    large, thumb = head_matrix(scene, Look(), head), head_thumbs(scene)[head]
    for picture in (weights, large):
        assert np.array_equal(np.isneginf(picture.drawn), hidden)
        np.testing.assert_array_equal(picture.values, scene.steps.weights)
        assert (picture.payload()["masked"] == "0") == hidden.any()
        columns = list(matrix_table(picture).values())[1:]
        assert np.array_equal(np.array([["(masked)" in cell for cell in column] for column in columns]).T, hidden)
        smallest = scene.steps.weights[~hidden].min()
        assert picture.range_text.startswith(f"{smallest:.2f}")
    assert np.array_equal(np.isneginf(thumb.weights), hidden)
    drawn = np.isneginf(contributions.drawn)
    assert np.array_equal(drawn[:-1], np.repeat(hidden[1][:, None], drawn.shape[1], axis=1))
    assert not drawn[-1].any()
    assert [label.startswith("0 × ") for label in contributions.row_labels[:-1]] == hidden[1].tolist()
    assert np.isfinite(outputs.drawn).all()
    told = step_of("softmax").words(scene)
    assert is_told("softmax-masked", told) == hidden.any()
    assert ("all positive" in shown(told)) == (not hidden.any())
    for key in range(len(scene.key_tokens)):
        handed = value_picture(scene, key)
        assert np.isneginf(handed.drawn[1]).all() == hidden[1, key]
        assert np.isfinite(handed.drawn[[0, 2]]).all()
    for variant in shared_pictures(scene, shared(scene)):
        assert np.array_equal(np.isneginf(variant.drawn), hidden)


def test_a_weight_that_is_merely_tiny_is_a_number_like_any_other():
    mask = np.zeros((6, 6), np.float32)
    mask[2, 4], mask[2, 5] = -200, -np.inf
    scene = Scene(TOY.trace(TEXT, mask=mask), 0, 0, 2)
    (weights,) = step_of("softmax").matrices(scene)
    # In float32 even that is 0, and no mask has made it one.
    assert scene.steps.weights[2, 4] == 0
    assert np.argwhere(np.isneginf(weights.drawn)).tolist() == [[2, 5]]
    assert [matrix_table(weights)[name][2] for name in ("4 the", "5 mat")] == ["0.0", "0 (masked)"]


def test_a_merged_word_is_hidden_only_if_all_its_pieces_are(scene_of):
    scene = scene_of("minilm-l6", "Unbelievable zyzzyvas sat", mask="causal")
    pieces = [token.position for token in scene.tokens if token.word == 1]
    assert len(pieces) > 2
    picture = head_matrix(scene, Look(words=True), 3)
    n_words = len(picture.row_labels)
    # A later piece sees an earlier one of its own word, so only what is later as a word is hidden.
    assert np.array_equal(np.isneginf(picture.drawn), ~np.tri(n_words, dtype=bool))


def test_before_and_after_scaling_have_one_colour_scale(scene):
    before, after = step_of("scale").matrices(scene)
    assert after.colour_limit == before.colour_limit == pytest.approx(np.abs(scene.steps.scores).max())


def test_the_small_pictures_are_the_weights_of_all_heads(scene):
    thumbs = head_thumbs(scene)
    assert len(thumbs) == scene.info.n_heads
    for index, thumb in enumerate(thumbs):
        weights = scene.trace.layers[scene.layer].head(index).weights
        drawn = np.where(np.isneginf(scene.steps.mask), -np.inf, weights)
        np.testing.assert_allclose(thumb.weights, drawn, atol=1e-6)
        best = weights[scene.word].argmax()
        assert thumb.label.startswith(f"Head {index + 1}")
        assert f"{scene.focus.text} looks most at {scene.names[best]}" in thumb.description
        assert f"{weights[scene.word, best]:.2f}" in thumb.description
        # The label is read out before the description: it is not said twice.
        assert thumb.label not in thumb.description


# ------------------------------------------------------------------------------------ the proof


def test_the_proof_is_the_check_of_the_trace(scene):
    proof = prove(scene.trace)
    assert proof.largest_difference == pytest.approx(scene.trace.check())
    assert proof.holds
    assert f"{scene.trace.check():.1e}" in proof.sentence("BERT")
    assert "rows sum to 1" in proof.sentence("BERT")
    assert "BERT's own output" in proof.sentence("BERT")


def test_a_number_that_is_not_the_models_own_breaks_the_proof(scene_of):
    trace = scene_of("toy").trace
    (layer,) = trace.layers
    output = layer.model_output.copy()
    output[1, 2, 3] += 0.01
    proof = prove(replace(trace, layers=(replace(layer, model_output=output),)))
    assert not proof.holds
    assert proof.largest_difference == pytest.approx(0.01, rel=1e-3)
    assert "1.0e-02" in proof.sentence("Toy")


def test_a_number_that_is_none_breaks_the_proof_in_any_layer_and_head(scene_of):
    trace = scene_of("minilm-l6").trace
    output = trace.layers[3].model_output.copy()
    output[7, 2, 3] = np.nan
    layers = (*trace.layers[:3], replace(trace.layers[3], model_output=output), *trace.layers[4:])
    assert not prove(replace(trace, layers=layers)).holds


def test_a_row_that_misses_one_is_told():
    proof = replace(prove(TOY.trace(TEXT)), largest_row_error=0.25)
    assert not proof.holds
    assert "rows miss 1 by up to 2.5e-01" in proof.sentence("Toy")
    assert TOLERANCE < 0.25


def test_rows_that_see_nothing_are_counted_and_do_not_break_the_proof():
    hidden = np.zeros((6, 6), np.float32)
    hidden[[1, 4]] = -np.inf
    proof = prove(TOY.trace(TEXT, mask=hidden))
    assert proof.holds
    assert proof.n_masked_rows == 2 * TOY.info.n_heads
    assert "6 wholly masked rows" in proof.sentence("Toy")


# ------------------------------------------------------------------------------------- the tables


def test_the_table_behind_a_picture_has_its_numbers_to_the_last_digit(scene):
    for step in keys():
        for picture in step_of(step).matrices(scene):
            table = matrix_table(picture)
            assert len(table) == picture.values.shape[1] + 1  # no two columns of one name
            names, *columns = ([cell.removesuffix(" (masked)") for cell in column] for column in table.values())
            assert names == [f"{i} {label}" for i, label in enumerate(picture.row_labels)]
            assert np.array_equal(np.array(columns, np.float32).T, picture.values)


def test_the_csv_reads_back_as_the_table(scene):
    for step in keys():
        for picture in step_of(step).matrices(scene):
            header, *rows = csv.reader(io.StringIO(to_csv(matrix_table(picture))))
            assert len(header) == picture.values.shape[1] + 1
            numbers = [[cell.removesuffix(" (masked)") for cell in row[1:]] for row in rows]
            assert np.array_equal(np.array(numbers, np.float32), picture.values)


@given(st.lists(st.tuples(anything, anything), min_size=1))
def test_no_cell_of_a_csv_is_run_as_a_formula(rows):
    columns = {"name": [one for one, _ in rows], "=cmd()": [other for _, other in rows]}
    columns = {name: [value.replace("\0", "").replace("\ud800", "") for value in c] for name, c in columns.items()}
    # newline="" as the csv module wants it.
    read_back = list(csv.reader(io.StringIO(to_csv(columns), newline="")))
    assert read_back[0] == ["name", "'=cmd()"]
    assert len(read_back) == len(rows) + 1
    for cell in (cell for row in read_back for cell in row):
        assert cell[:1] not in set("=+@\t\r")
        if cell[:1] == "-":
            float(cell)  # a number, or this raises


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", " =1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe_in_front(formula):
    (_, (cell,)) = csv.reader(io.StringIO(to_csv({"token": [formula]}), newline=""))
    assert cell == f"'{formula}" or cell.startswith(" ")


def test_numbers_stay_numbers_in_a_csv():
    assert to_csv({"x": ["-1.5", "2.0", "-1e-07", "-inf"]}) == "x\r\n-1.5\r\n2.0\r\n-1e-07\r\n-inf\r\n"


def test_the_table_of_tokens_has_every_token_as_it_was_typed(scene_of):
    table = token_table(scene_of("minilm-l6", "Unbelievable Cat!").tokens)
    assert table["token"][0] == "[CLS]"
    assert table["as typed"][1:-1] == ["Unbelievable", "Cat", "!"]
    assert table["position"] == [str(position) for position in range(len(table["token"]))]
    # As positions, and as a link has them.
    assert table["word"] == ["", "0", "1", "2", ""]


SHAPE = re.compile(r"\((\d+)×(\d+)\)")


def test_the_shapes_are_those_of_the_arrays(scene):
    head, layer = scene.steps, scene.attention
    projections = layer.projections
    W_Q = projections.W_Q[:, : head.queries.shape[1]]
    joined = layer.joined()
    wanted = {
        "tokens": [],
        "embed": [layer.inputs.shape],
        "qkv": [layer.inputs.shape, W_Q.shape, head.queries.shape, head.keys.shape, head.values.shape],
        "scores": [head.queries.shape, head.keys.T.shape, head.scores.shape],
        "scale": [head.scores.shape, head.scaled_scores.shape],
        "mask": [head.scaled_scores.shape, head.mask.shape, head.masked_scores.shape],
        "softmax": [head.masked_scores.shape, head.weights.shape],
        "sum": [head.weights.shape, head.values.shape, head.head_outputs.shape],
        "heads": [head.head_outputs.shape, joined.shape, projections.W_O.shape, layer.output().shape],
    }
    for step in keys():
        told = [(int(rows), int(columns)) for rows, columns in SHAPE.findall(step_of(step).shapes(scene))]
        assert told == wanted[step], step


# --------------------------------------------------------- other kinds of models, as traces may be


@pytest.fixture(scope="module")
def grouped():
    """A trace of a model with 4 query heads that share 2 key/value heads, with values wider than keys."""
    generator = np.random.default_rng(7)
    H, G, T, D, Dv, M = 4, 2, 5, 3, 6, 10

    def random(*shape):
        return generator.normal(size=shape).astype(np.float32)

    X = random(T, M)
    parts = Projections(
        random(M, H * D), random(M, G * D), random(M, G * Dv), random(H * Dv, M), random(H * D), None, random(G * Dv)
    )
    queries = steps.split_heads(X @ parts.W_Q + parts.b_Q, H)
    keys = steps.split_heads(X @ parts.W_K, G)
    values = steps.split_heads(X @ parts.W_V + parts.b_V, G)
    output = steps.attend(queries, keys, values).head_outputs
    info = ModelInfo(
        *("grouped", "Grouped", "test", 1, H, G, M, D, T, 0, "", "", ""),
    )
    tokens = tuple(Token(f"t{i}", f"t{i}", i, i, i, start=3 * i) for i in range(T))
    layer = LayerTrace(X, queries, keys, values, None, D**-0.5, output, projections=parts)
    return Trace("t0 t1 t2 t3 t4", tokens, (layer,), info, Embeddings(X))


@pytest.mark.parametrize("head", range(4))
@pytest.mark.parametrize("step", keys())
def test_cells_of_a_model_with_shared_keys_are_explained_too(grouped, step, head):
    scene = Scene(grouped, 0, head, 2)
    assert "$" not in step_of(step).words(scene)
    for cell, value in cells_of(step, scene):
        check_detail(step, scene, cell, value)


@pytest.mark.parametrize("step", keys())
def test_a_model_of_which_only_its_attention_is_known_is_told_as_far_as_it_is(grouped, step):
    layer = replace(grouped.layers[0], inputs=None, projections=None)
    scene = Scene(replace(grouped, layers=(layer,), embeddings=None), 0, 3, 2)
    assert "$" not in step_of(step).words(scene)
    assert step_of(step).shapes(scene)
    for cell, value in cells_of(step, scene):
        explained = step_of(step).detail(replace(scene, cell=cell))
        assert "$" not in explained.title + explained.note
        if cell.matrix in ("queries", "keys", "values"):
            assert pattern_of("detail-no-weights").search(shown(explained.note))
            assert len(explained.parts) == 0
        else:
            check_detail(step, scene, cell, value)


def test_numbers_in_sentences_have_a_true_minus_sign():
    assert fact(-1.234) == "<b>−1.23</b>"
    assert exact(-0.00004) == "<b>0.0000</b>"
