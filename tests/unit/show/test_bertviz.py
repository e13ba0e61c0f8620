"""The calls of BertViz as published notebooks write them: each draws the weights that the model has returned."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

from attention.show import head_view, model_view
from attention.show.arrays import of_arrays
from attention.show.neuron_view import show
from tests.tiny_models import make
from tests.unpacked import unpacked

ONE, OTHER = "the cat sat on the mat", "a dog ran"
ALL = np.s_[:]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A pair of sentences, read as these notebooks read it."""
    folder = make("bert", tmp_path_factory.mktemp("models") / "bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"output_attentions": True, "attn_implementation": "eager"}
    model = transformers.AutoModel.from_pretrained(folder, **options)
    inputs = tokenizer(ONE, OTHER, return_token_type_ids=True, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(inputs.input_ids[0])
    types = inputs.token_type_ids
    found = {"tokens": tokens, "types": types, "start": types[0].tolist().index(1)}
    return SimpleNamespace(model=model, tokenizer=tokenizer, attention=model(**inputs).attentions, **found)


@pytest.mark.parametrize(
    ("call", "drawn"),
    [
        # BertViz's README and its notebooks.
        (lambda it: head_view(it.attention, it.tokens), ALL),
        (lambda it: head_view(it.attention, it.tokens, it.start), ALL),
        (lambda it: model_view(it.attention, it.tokens, it.start, html_action="return"), ALL),
        (lambda it: model_view(it.attention, it.tokens, include_layers=[1]), np.s_[1:2]),
        (lambda it: model_view(it.attention, it.tokens, include_layers=range(1), include_heads=(0, 1)), np.s_[:1, :2]),
        (lambda it: head_view(it.attention, it.tokens, prettify_tokens=False, layer=1, heads=[0, 1]), ALL),
        # "Natural Language Processing with Transformers", chapter 3, and those who follow it.
        (lambda it: head_view(it.attention, it.tokens, (it.types == 0).sum(dim=1), heads=[1]), ALL),
        # Courses and competitions.
        (lambda it: model_view(list(it.attention), np.array(it.tokens), display_mode="light"), ALL),
        (lambda it: head_view([layer.detach().numpy() for layer in it.attention], it.tokens, None), ALL),
        (lambda it: model_view(torch.stack(it.attention), tuple(it.tokens), display_mode="dark"), ALL),
        (lambda it: head_view(it.attention[-1:], [str(each) for each in it.tokens], layer=np.int64(0)), np.s_[-1:]),
        (
            lambda it: head_view(
                encoder_attention=it.attention,
                decoder_attention=it.attention,
                cross_attention=it.attention,
                encoder_tokens=it.tokens,
                decoder_tokens=it.tokens,
            ),
            ALL,
        ),
    ],
)
def test_a_call_of_a_notebook_draws_the_weights(bert, call, drawn):
    exact = torch.cat(bert.attention).detach().numpy()[drawn]
    found = unpacked(call(bert).data)
    for weights in found.weights():
        assert np.abs(weights - exact).max() <= found.error + 1e-7


@pytest.mark.parametrize(
    "call",
    [
        lambda it: show(it.model, "bert", it.tokenizer, ONE, OTHER, layer=1, head=0, html_action="return"),
        lambda it: show(it.model, "bert", it.tokenizer, ONE, display_mode="dark", layer=0, head=1),
        lambda it: show(it.model, "bert", it.tokenizer, sentence_a=ONE, sentence_b=None, layer=torch.tensor(1)),
    ],
)
def test_the_neuron_view_of_a_model_draws_its_tokens(bert, call):
    given = unpacked(call(bert).data).given
    (neuron,) = [each["data"] for each in given["pictures"] if each["component"] == "neuron"]
    assert neuron["labels"] in (bert.tokens, bert.tokens[: bert.start])
    assert given["theme"] in {"", "dark"}


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (["Ġcaf", "Ã©", "Ċ", "ðŁĺ"], ["␣caf", "é", "↵", r"\xf0\x9f\x98"]),
        (["caf", "Ã©"], ["caf", "é"]),
        ([" a", "b"], ["␣a", "b"]),
        (["▁été", "s"], ["␣été", "s"]),
        (["cat</w>", "s"], ["cat", "s"]),
        (["već", "społ", "SÃO", "##č"], ["već", "społ", "SÃO", "##č"]),
        (["a\ud800"], ["a\ufffd"]),
    ],
)
def test_tokens_of_any_vocabulary_are_shown_as_in_a_trace(tokens, shown):
    size = len(tokens)
    assert list(of_arrays([np.full((1, 1, size, size), 1 / size)], tokens).rows) == shown
