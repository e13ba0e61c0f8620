"""Weights in a notebook: the model's, with the stated precision; unsuitable input is refused clearly."""

import json
import re
import subprocess
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention import show
from attention.core.steps import softmax
from attention.figures.head_view import THRESHOLDS
from attention.models import load
from attention.show.arrays import of_arrays
from attention.show.packed import Packed, scale_for
from attention.show.weights import Weights
from tests.sources import ROOT
from tests.tiny_models import make
from tests.unpacked import Unpacked, unpacked

TEXT = "The cat sat on the mat."
# What BertViz 1.4.1 needs for the same input, 12 layers of 12 heads and random weights: tokens, megabytes of its model
# view and of its head view, and how many times as large these are at least. The script, about 15 kB, is there for any
# length, so that it is most of a short one.
BERTVIZ = [
    (1, 0.0212, 0.0171, 1.1),
    (5, 0.1752, 0.1711, 8),
    (8, 0.4193, 0.4152, 14.4),
    (10, 0.6456, 0.6415, 18.4),
    (12, 0.9235, 0.9194, 22),
    (16, 1.635, 1.631, 28),
    (32, 6.6, 6.6, 37),
    (64, 26.5, 26.5, 40.5),
]
# RequireJS, D3 and jQuery, minified, which its file leaves out and fetches whenever it is opened.
SCRIPTS = 0.339


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    return {kind: make(kind, base / kind) for kind in ("bert", "gpt2", "t5")}


def run(folder, maker, text=TEXT, **options):
    """What transformers itself computes, its tokens, and its outputs."""
    model = maker.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(*([text] if isinstance(text, str) else text), return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs, **options, output_attentions=True)
    return tokenizer.convert_ids_to_tokens(inputs.input_ids[0]), outputs


def written(weights):
    """A number with two digits, as browsers round."""
    return np.floor(np.asarray(weights, np.float64) * 100 + 0.5)


def expect_kept(html, *attentions):
    found = unpacked(html)
    for weights, attention in zip(found.weights(), attentions, strict=True):
        exact = torch.cat(list(attention)).numpy()
        assert np.abs(weights - exact).max() <= found.error + 1e-9
        assert (written(weights) == written(exact)).all()


@pytest.mark.parametrize("view", [show.head_view, show.atlas, show.model_view])
@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_the_weights_are_those_that_transformers_computes(folders, kind, view):
    tokens, outputs = run(folders[kind], transformers.AutoModel)
    html = view(outputs.attentions, tokens)._repr_html_()
    expect_kept(html, outputs.attentions)
    (part,) = unpacked(html).given["parts"]
    assert part["rows"] == part["columns"] == [token.replace("Ġ", "␣") for token in tokens]


@pytest.mark.parametrize("view", [show.head_view, show.atlas])
def test_an_encoder_decoder_has_its_three_uses_of_attention(folders, view):
    written_ids = torch.tensor([[0, 5, 6, 7]])
    tokens, outputs = run(folders["t5"], transformers.AutoModel, decoder_input_ids=written_ids)
    decoder_tokens = ["<pad>", "one", "two", "three"]
    html = view(
        encoder_attention=outputs.encoder_attentions,
        decoder_attention=outputs.decoder_attentions,
        cross_attention=outputs.cross_attentions,
        encoder_tokens=tokens,
        decoder_tokens=decoder_tokens,
        sentence_b_start=2,
    )._repr_html_()
    expect_kept(html, outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions)
    encoder, decoder, cross = unpacked(html).given["parts"]
    assert [part["name"] for part in (encoder, decoder, cross)] == ["encoder", "decoder", "cross"]
    assert (cross["rows"], cross["columns"]) == (decoder["rows"], encoder["rows"])
    # What the encoder reads has a second sentence.
    breaks = [(part["rowBreaks"], part["columnBreaks"]) for part in (encoder, decoder, cross)]
    assert breaks == [([2], [2]), ([], []), ([], [2])]
    # One alone needs the tokens of both sides.
    alone = view(
        cross_attention=outputs.cross_attentions, encoder_tokens=tokens, decoder_tokens=decoder_tokens
    )._repr_html_()
    expect_kept(alone, outputs.cross_attentions)


def test_a_pair_is_parted_where_its_second_sentence_begins(folders):
    tokens, outputs = run(folders["bert"], transformers.AutoModel, text=("The cat sat.", "A dog ran."))
    start = tokens.index("[SEP]") + 1
    (part,) = unpacked(show.head_view(outputs.attentions, tokens, start)._repr_html_()).given["parts"]
    assert part["rowBreaks"] == part["columnBreaks"] == [start]


def test_a_pair_is_parted_where_its_segment_ids_say(folders):
    """As BertViz's own notebook has it: the number of tokens of the first sentence, as a tensor."""
    tokens, outputs = run(folders["bert"], transformers.AutoModel, text=("The cat sat.", "A dog ran."))
    starts = (torch.tensor([[0] * 4 + [1] * (len(tokens) - 4)]) == 0).sum(dim=1)
    (part,) = unpacked(show.head_view(outputs.attentions, tokens, starts)._repr_html_()).given["parts"]
    assert part["rowBreaks"] == [4]


@pytest.mark.parametrize(
    "tokens", [("a", "\ud83d\udc08", "c\ud800"), np.array(["a", "🐈", "c\ufffd"])], ids=["tuple", "array"]
)
@pytest.mark.parametrize("view", [show.head_view, show.atlas])
def test_tokens_are_any_sequence_of_texts_also_with_halves_of_characters(view, tokens, tmp_path):
    shown = view([np.full((1, 1, 3, 3), 1 / 3)], tokens)
    (part,) = unpacked(shown._repr_html_()).given["parts"]
    assert part["rows"] == ["a", "🐈", "c\ufffd"]
    shown.save(tmp_path / "page.html")


def test_layers_and_heads_can_be_chosen(folders):
    tokens, outputs = run(folders["bert"], transformers.AutoModel)
    n_layers, n_heads = len(outputs.attentions), outputs.attentions[0].shape[1]
    html = show.model_view(
        outputs.attentions, tokens, include_layers=[n_layers - 1], include_heads=[1, 0]
    )._repr_html_()
    expect_kept(html, [outputs.attentions[-1][:, :2]])
    (part,) = unpacked(html).given["parts"]
    assert (part["layers"], part["heads"]) == ([n_layers - 1], [0, 1])
    opened = unpacked(show.head_view(outputs.attentions, tokens, layer=1, heads=[n_heads - 1])._repr_html_()).given
    assert (opened["layer"], opened["shown"]) == (1, [n_heads - 1])
    only = show.head_view(outputs.attentions, tokens, layer=1, include_layers=[1])._repr_html_()
    assert unpacked(only).given["layer"] == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_tensors_of_any_type_are_taken_and_so_are_lists(dtype):
    weights = torch.softmax(torch.randn(1, 2, 3, 3, generator=torch.Generator().manual_seed(0)), -1).to(dtype)
    layers = [weights.clone().requires_grad_(), weights]
    html = show.atlas(layers, ["a", "b", "c"])._repr_html_()
    expect_kept(html, [weights.float(), weights.float()])
    assert show.atlas([weights.tolist()] * 2, ["a", "b", "c"])._repr_html_() == html
    assert show.atlas(torch.stack([weights, weights]), ["a", "b", "c"])._repr_html_() == html


@given(arrays(np.float32, array_shapes(min_dims=3, max_dims=3, max_side=5), elements=st.floats(0, 1, width=32)))
def test_any_weight_is_kept_as_close_as_is_said_and_written_as_it_is(layer):
    n_heads, n_queries, n_keys = layer.shape
    part = Weights((layer,), ("q",) * n_queries, ("k",) * n_keys, (0,), tuple(range(n_heads)))
    packed = Packed.of([part])
    given = {"planes": packed.planes, "scale": packed.scale, "parts": [{"layers": [0], "heads": part.head_numbers}]}
    given["parts"][0] |= {"rows": part.rows, "columns": part.columns}
    ((weights,),) = Unpacked("", "", given, zlib.decompress(packed.data, -15)).weights()
    assert np.abs(weights - layer).max() <= packed.error + 1e-12
    assert (written(weights) == written(layer)).all()


@pytest.mark.parametrize("n_keys", [1, 2, 10, 20, 21, 200, 201, 512, 4096])
def test_a_step_is_small_beside_the_mean_weight(n_keys):
    assert 1 / scale_for(n_keys) <= min(0.001, 1 / n_keys / 50)
    steps = np.array(THRESHOLDS) * scale_for(n_keys)
    assert steps == pytest.approx(steps.round(), abs=1e-6)


def test_a_long_text_needs_more_than_two_bytes_for_a_weight():
    weights = softmax(np.random.default_rng(0).normal(scale=3, size=(1, 1, 60, 1311)).astype(np.float32))
    weights[..., 0, :] = np.arange(1311) == 5
    read, written = ["t"] * 1311, ["t"] * 60
    found = unpacked(
        show.head_view(cross_attention=[weights], encoder_tokens=read, decoder_tokens=written)._repr_html_()
    )
    assert found.given["planes"] == 3
    assert np.abs(found.weights()[0] - weights).max() <= found.error == 0.0000076


def displayed(model, text, **options):
    """What IPython shows of a trace, in a process of its own: of whoever has loaded the model and nothing else."""
    script = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "from attention.models import load\n"
        f"trace = load({model!r}).trace({text!r}, **{options!r})\n"
        "print(shell.display_formatter.format(trace)[0]['text/html'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return unpacked(done.stdout.removesuffix("\n")), load(model).trace(text, **options)


def test_a_trace_shows_its_own_weights_and_what_the_mask_hides():
    found, trace = displayed("toy", "the cat sat on the mat", mask="causal")
    (codes,), (weights,) = found.parts(), found.weights()
    exact = np.stack([layer.steps().weights for layer in trace.layers])
    assert np.abs(weights - exact).max() <= found.error
    hidden = np.stack([[layer.hidden(head) for head in range(3)] for layer in trace.layers])
    assert hidden.any()
    assert ((codes == 0) == hidden).all()
    # Of bare numbers, nobody knows whether a mask has made them 0.
    (codes,) = unpacked(show.atlas(list(exact), [token.text for token in trace.tokens])._repr_html_()).parts()
    assert codes.min() == 1


@pytest.mark.slow
def test_a_trace_of_an_encoder_decoder_shows_all_that_it_does():
    found, trace = displayed("translator-fr-en", "le chat noir dort")
    for weights, part in zip(found.weights(), (trace, trace.decoder, trace.cross), strict=True):
        assert np.abs(weights - np.stack([layer.steps().weights for layer in part.layers])).max() <= found.error
    assert [part["name"] for part in found.given["parts"]] == ["encoder", "decoder", "cross"]


@pytest.mark.slow
@pytest.mark.parametrize(("n_tokens", "model_view", "head_view", "times"), BERTVIZ)
def test_a_picture_is_a_small_part_of_what_bertviz_makes_of_the_same_weights(n_tokens, model_view, head_view, times):
    scores = np.random.default_rng(0).normal(scale=2, size=(12, 1, 12, n_tokens, n_tokens))
    layers, tokens = list(softmax(scores.astype(np.float32))), [f"word{index}" for index in range(n_tokens)]
    for view, megabytes in ((show.model_view, model_view), (show.head_view, head_view)):
        cell = {"output_type": "display_data", "metadata": {}, "data": dict(view(layers, tokens)._repr_mimebundle_())}
        size = len(json.dumps(cell, indent=1)) / 1e6
        assert size < megabytes / times
        assert size < (megabytes + SCRIPTS) / 20


def test_nothing_in_it_is_fetched():
    html = show.atlas([np.full((1, 2, 3, 3), 1 / 3)], ["a", "http://b", "<script>"])._repr_html_()
    found = unpacked(html)
    assert "<script>" not in found.instead
    assert not re.search(r"https?:|//\w|import\(|fetch\(|src=", found.script + re.sub("http://b", "", found.instead))
    assert "http:" not in html.replace("http://b", "")


def test_the_same_weights_make_the_same_file_and_others_another_place():
    one, other = np.full((1, 2, 3, 3), 1 / 3), np.stack([np.eye(3)] * 2)[None]
    tokens = ["a", "b", "c"]
    assert show.atlas([one], tokens).data == show.atlas([one], tokens).data
    keys = {re.search(r'data-attention="(\w+)"', show.atlas([each], tokens).data)[1] for each in (one, other)}
    assert len(keys) == 2


GOOD = np.full((1, 2, 3, 3), 1 / 3, np.float32)
ABC = ["a", "b", "c"]
ONE_ROW_OF_NAN = np.where(np.arange(3)[:, None] == 2, np.nan, GOOD)


@pytest.mark.parametrize(
    ("attention", "tokens", "options", "error", "said"),
    [
        (None, ABC, {}, ValueError, r'attn_implementation="eager"'),
        ((None, None), ABC, {}, ValueError, r'attn_implementation="eager"'),
        ((GOOD, None), ABC, {"include_layers": [1]}, ValueError, "layer 1 is None"),
        (SimpleNamespace(attentions=(GOOD,)), ABC, {}, TypeError, r"pass outputs\.attentions"),
        ("attention", ABC, {}, TypeError, "tuple with an array for each layer, got str"),
        (((GOOD, GOOD), (GOOD, GOOD)), ABC, {}, TypeError, "generate"),
        ((np.concatenate([GOOD, GOOD]),), ABC, {}, ValueError, "a batch of 2 texts"),
        ((GOOD[0, 0],), ABC, {}, ValueError, r"layer 0 must have the shape .* got \(3, 3\)"),
        ((GOOD,), ["a", "b"], {}, ValueError, "from 3 tokens to 3, and 2 and 2 of them have names"),
        ((GOOD,), None, {}, ValueError, "tokens must be given"),
        ((GOOD,), [1, 2, 3], {}, TypeError, "tokens must be a list of texts"),
        ((GOOD - 1,), ABC, {}, ValueError, r"between -0.667 and -0.667\. Are they scores"),
        (
            (GOOD, ONE_ROW_OF_NAN),
            ABC,
            {},
            ValueError,
            "layer 1 has weights that are NaN or infinite, first in the row of token 2",
        ),
        ((GOOD, GOOD[:, :1]), ABC, {}, ValueError, r"layer 1 must have the shape \(2, 3, 3\)"),
        ((GOOD,), ABC, {"sentence_b_start": 3}, ValueError, "sentence_b_start must be between 1 and 2, got 3"),
        ((GOOD,), ABC, {"include_layers": [1]}, ValueError, "no layer 1: there are 0 to 0"),
        ((GOOD,), ABC, {"heads": [2]}, ValueError, "no head 2"),
        ((GOOD,), ABC, {"html_action": "print"}, ValueError, "html_action"),
        ((GOOD,), ABC, {"cross_attention": (GOOD,)}, ValueError, "either attention, or encoder_attention"),
        (None, None, {"cross_attention": (GOOD,), "decoder_tokens": ABC}, ValueError, "needs encoder_tokens"),
        (None, None, {"decoder_attention": (GOOD,)}, ValueError, "decoder_attention needs decoder_tokens"),
        ((np.zeros((1, 64, 512, 512), np.float32),), ["t"] * 512, {}, ValueError, "choose some layers"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_plain_words(attention, tokens, options, error, said):
    with pytest.raises(error, match=said):
        show.head_view(attention, tokens, **options)


def test_a_trace_takes_no_other_tokens():
    with pytest.raises(ValueError, match="its own tokens"):
        show.head_view(load("toy").trace("the cat"), ["a", "b"])


@pytest.mark.parametrize("what", [show.step, show.neuron, lambda weights: show.compare(weights, weights)])
def test_weights_alone_do_not_pretend_to_be_a_trace(what):
    with pytest.raises(TypeError, match="trace"):
        what((GOOD,))


@pytest.mark.parametrize(
    ("attention", "include", "numbers"),
    [
        ((GOOD, None, GOOD), None, [0, 2]),
        ((None, GOOD, GOOD), [-1], [2]),
        ((GOOD, -GOOD, np.zeros((2, 2))), [0], [0]),
        ((GOOD, GOOD, GOOD), np.array([2, 0]), [0, 2]),
    ],
)
def test_layers_are_chosen_before_any_is_checked_and_keep_their_numbers(attention, include, numbers):
    figure = show.atlas_figure(attention, ABC, include_layers=include)
    part = of_arrays(attention, ABC, include_layers=include)
    assert list(part.layer_numbers) == numbers
    assert figure.data


FIRST_ONLY = np.broadcast_to(np.eye(3, dtype=np.float32)[0], (1, 2, 3, 3))


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        (GOOD, []),
        (GOOD * (np.arange(3)[:, None] > 0), []),
        (GOOD * 0.998, []),
        (GOOD * np.array([[0.9], [1], [0.5]], np.float32), ["0.5", "1"]),
        (FIRST_ONLY.swapaxes(-1, -2) * 1.25, ["0", "1.25", "1.25"]),
        (FIRST_ONLY.swapaxes(-1, -2), ["0", "3", "transposed"]),
        (np.full((1, 2, 3, 5), 0.2), ["3 tokens"]),
        (np.full((1, 2, 3, 2), 0.25), ["3 tokens", "0.5"]),
    ],
    ids=["softmax", "padding", "bfloat16", "sink", "dropout", "transposed", "window", "window and sink"],
)
def test_what_is_no_softmax_over_the_tokens_is_drawn_and_said_with_its_sums(layer, told):
    part = of_arrays([layer], ABC)
    assert bool(part.note) == bool(told)
    assert all(each in part.note for each in told)
    for view in (show.head_view, show.atlas):
        found = unpacked(view([layer], ABC).data)
        assert part.note in found.given["note"]
        assert np.abs(found.weights()[0] - np.minimum(layer, 1)).max() <= found.error + 1e-7
    for figure in (show.figure([layer], tokens=ABC), show.atlas_figure([layer], ABC)):
        assert (figure.layout.title.subtitle.text or "").replace("<br>", " ") == part.note
