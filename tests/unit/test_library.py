"""The package as a library: what is there, and models that one has in memory, which stay as they are."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    Gemma2ForCausalLM,
    Gemma2ForSequenceClassification,
)

import attention
from attention import Ablate, CutEdge, Patch, Trace, show
from attention.lesson.proof import prove
from attention.models import ModelUnavailableError
from tests.sources import ROOT

SENTENCE = "The cat sat on the mat"


@pytest.fixture(scope="module")
def given(folder_of):
    """A model as its owner has it, with transformers' plain attention, and its tokenizer."""

    @cache
    def make(kind, dtype=torch.float32):
        folder = folder_of(kind)
        is_pair = json.loads((folder / "config.json").read_text()).get("is_encoder_decoder")
        names = json.loads((folder / "config.json").read_text())["architectures"]
        loader = AutoModelForSeq2SeqLM if is_pair else AutoModelForCausalLM if "CausalLM" in str(names) else AutoModel
        model = loader.from_pretrained(folder, dtype=dtype, attn_implementation="eager", local_files_only=True)
        return model.eval(), AutoTokenizer.from_pretrained(folder, local_files_only=True)

    return make


def state_of(model):
    """Everything of a model that a guest could leave changed."""
    modules = {name: (type(each), each.training, sorted(vars(each))) for name, each in model.named_modules()}
    hooks = {
        (name, kind): list(getattr(each, kind).values())
        for name, each in model.named_modules()
        for kind in ("_forward_hooks", "_forward_pre_hooks")
    }
    tensors = {name: (id(each), each.data_ptr(), each.requires_grad) for name, each in model.named_parameters()}
    numbers = {name: each.detach().clone() for name, each in model.named_parameters()}
    return modules, hooks, tensors, model.config.to_json_string(), model.config._attn_implementation, numbers


def expect_untouched(before, model):
    *told, numbers = state_of(model)
    assert told == list(before[:-1])
    assert all(torch.equal(each, before[-1][name]) for name, each in numbers.items())


def weights_of(model, trace):
    """The reference: the model's own plain attention on the same tokens."""
    encoder = model.get_encoder() if trace.info.n_decoder_layers else model
    ids = torch.tensor([[token.token_id for token in trace.tokens]])
    with torch.inference_mode():
        found = encoder(input_ids=ids, output_attentions=True).attentions
    return np.stack([each[0].float().numpy() for each in found])


@pytest.mark.parametrize(
    ("kind", "dtype", "is_training"),
    [
        ("bert", torch.float32, True),
        ("gpt2", torch.bfloat16, False),
        ("llama", torch.float16, True),
        ("t5", torch.bfloat16, True),
        ("bart", torch.float16, False),
        ("starcoder2", torch.bfloat16, True),
        ("gemma2", torch.float32, False),
        ("bloom", torch.float16, True),
    ],
)
def test_a_model_in_memory_is_recorded_as_it_runs_and_stays_as_it_was(given, kind, dtype, is_training):
    model, tokenizer = given(kind, dtype)
    model.train(is_training)
    before = state_of(model)
    trace = attention.trace(model, tokenizer, SENTENCE)
    expect_untouched(before, model)
    model.eval()
    # A type of half the size rounds scores before their softmax: 1e-5 is for float32.
    assert np.abs(trace.weights - weights_of(model, trace)).max() <= max(1e-5, 16 * torch.finfo(dtype).eps)
    assert prove(trace).holds


def test_logits_are_the_models_own_and_a_classifier_has_none(given):
    _, tokenizer = given("gemma2", torch.bfloat16)
    model = Gemma2ForCausalLM(given("gemma2", torch.bfloat16)[0].config).to(torch.bfloat16).eval()
    trace = attention.trace(model, tokenizer, SENTENCE)
    with torch.inference_mode():
        wanted = model(torch.tensor([[token.token_id for token in trace.tokens]])).logits[0].float().numpy()
    np.testing.assert_array_equal(trace.logits, wanted)
    classifier = Gemma2ForSequenceClassification(model.config)
    assert classifier.config.tie_word_embeddings
    assert attention.trace(classifier, tokenizer, SENTENCE).logits is None


def test_the_model_stays_as_it_was_if_it_fails_in_the_middle(given):
    model, tokenizer = given("gpt2")
    before = state_of(model.train())

    def fail(*_):
        raise RuntimeError("in the middle")

    handle = model.base_model.h[1].register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        attention.trace(model, tokenizer, SENTENCE)
    handle.remove()
    expect_untouched(before, model)


def test_hooks_of_ones_own_run_and_stay(given):
    model, tokenizer = given("llama")
    plain = attention.trace(model, tokenizer, SENTENCE)
    seen = []

    class Steering:
        def __call__(self, _module, _inputs, output):
            seen.append(output[0].shape)
            return (output[0] + 1, *output[1:]) if isinstance(output, tuple) else output + 1

    handle = model.model.layers[0].register_forward_hook(Steering())
    steered = attention.trace(model, tokenizer, SENTENCE)
    with torch.inference_mode():
        logits = model(torch.tensor([[token.token_id for token in plain.tokens]])).logits[0].numpy()
    handle.remove()
    assert len(seen) == 2
    np.testing.assert_allclose(steered.logits, logits, atol=1e-4)
    assert np.abs(steered.logits - plain.logits).max() > 0.01


def test_a_list_of_texts_is_a_list_of_traces_and_tokens_of_ones_own_are_read_as_they_are(given):
    model, tokenizer = given("llama")
    texts = [SENTENCE, "A small dog ran"]
    first, second = attention.trace(model, tokenizer, texts)
    assert [first.text, second.text] == texts
    ids = [token.token_id for token in first.tokens]
    names = [f"token {place}" for place, _ in enumerate(ids)]
    for given_ids in (ids, np.array([ids]), torch.tensor([ids])):
        own = attention.trace(model, input_ids=given_ids, tokens=names)
        assert [token.text for token in own.tokens] == names
        np.testing.assert_array_equal(own.weights, first.weights)
    by_tokenizer = attention.trace(model, tokenizer, input_ids=ids)
    assert [token.text for token in by_tokenizer.tokens] == [token.text for token in first.tokens]


def test_a_tokenizer_that_cuts_and_pads_still_does_so_afterwards(given):
    model, tokenizer = given("bert")
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(4)
    backend.enable_padding(length=6)
    before = backend.truncation, backend.padding
    trace = attention.trace(model, tokenizer, SENTENCE)
    after = backend.truncation, backend.padding
    backend.no_truncation()
    backend.no_padding()
    assert before == after
    assert len(trace.tokens) == 8


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "why"),
    [
        ((torch.nn.Linear(2, 2), None, "a"), {}, TypeError, "expected a transformers model"),
        (("minilm-l6", "a text"), {}, TypeError, r"attention\.load"),
        ((), {}, TypeError, "either a text or input_ids"),
        ((None, "tokenizer"), {}, TypeError, "model.trace"),
        ((None, ["no", "tokenizer"], "a"), {}, TypeError, "expected a fast transformers tokenizer"),
        ((None, None, "a text"), {}, ValueError, "tokenizer"),
        ((), {"input_ids": [1, 2]}, ValueError, "tokens"),
        ((), {"input_ids": [[1], [2]], "tokens": ["a"]}, ValueError, r"\(T,\) or \(1, T\), got \(2, 1\)"),
        ((), {"input_ids": [10**6], "tokens": ["a"]}, ValueError, "between 0 and"),
        ((), {"input_ids": [0.5], "tokens": ["a"]}, TypeError, "whole number"),
        ((), {"input_ids": [1] * 600, "tokens": ["a"] * 600}, ValueError, "at most"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_runs(given, arguments, keywords, error, why):
    model, _ = given("gpt2")

    def runs(*_):
        pytest.fail("it ran")

    first, *others = arguments or (None,)
    handle = model.base_model.wte.register_forward_pre_hook(runs)
    try:
        with pytest.raises(error, match=why):
            attention.trace(model if first is None else first, *others, **keywords)
    finally:
        handle.remove()


def test_a_model_whose_attention_is_not_the_one_that_is_explained_is_refused_with_the_reason(given):
    _, tokenizer = given("gpt2")
    from transformers import BertConfig, BertModel, MambaConfig, MambaModel, T5EncoderModel

    with pytest.raises(ValueError, match="mamba"):
        attention.trace(MambaModel(MambaConfig(vocab_size=320, hidden_size=16, num_hidden_layers=1)), tokenizer, "a")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    as_decoder = BertModel(BertConfig(vocab_size=320, is_decoder=True, **sizes))
    with pytest.raises(ValueError, match="is_decoder"):
        attention.trace(as_decoder, tokenizer, "a")
    pair, of_pair = given("t5")
    with pytest.raises(ValueError, match="Only the encoder"):
        attention.trace(T5EncoderModel(deepcopy(pair.config)), of_pair, "a")
    with pytest.raises(ValueError, match="tokenizer"):
        attention.trace(pair, input_ids=[1], tokens=["a"])


# ------------------------------------------------------------------------------ models by their names


def test_a_model_is_loaded_by_its_id_from_a_folder_or_from_the_cache_of_the_hub(folder_of, tmp_path, monkeypatch):
    folder = folder_of("llama")
    cached = tmp_path / "models--somebody--tiny"
    copytree(folder, cached / "snapshots" / ("a" * 40))
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    traces = [attention.load(name).trace(SENTENCE) for name in (folder, str(folder), "somebody/tiny")]
    assert {trace.info.name for trace in traces} == {"llama", "tiny"}
    assert all(np.array_equal(trace.weights, traces[0].weights) for trace in traces)
    assert attention.load("toy").info.model_id == "toy"
    for missing, why in (
        ("somebody/nothing", "hf download somebody/nothing"),
        (tmp_path / "nothing", "nothing"),
        (str(tmp_path / "nothing"), "no folder .*nothing"),
        ("not an id: ?", "not an id"),
    ):
        with pytest.raises(ModelUnavailableError, match=why):
            attention.load(missing)


# The class of each kind of tokenizer, and files of another kind, of which transformers makes one that knows no word.
OTHER_FILES = {
    "bert": ("BertTokenizer", {"vocab.json": '{"a": 0, "b": 1}', "merges.txt": "#version: 0.2\n"}),
    "gpt2": ("GPT2Tokenizer", {"vocab.txt": "a\nb\n"}),
    "starcoder2": ("PreTrainedTokenizerFast", {"vocab.txt": "a\nb\n"}),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_a_folder_without_its_tokenizer_is_refused_with_the_names_of_the_files(folder_of, tmp_path, kind):
    folder = copytree(folder_of(kind), tmp_path / kind)
    (folder / "tokenizer.json").unlink()
    name, others = OTHER_FILES[kind]
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    for file, content in others.items():
        (folder / file).write_text(content)
    with pytest.raises(ModelUnavailableError, match=r"no tokenizer.*tokenizer\.json"):
        attention.load(folder)


# ------------------------------------------------------------------------------ interventions


@pytest.fixture(scope="module")
def own(given):
    model, tokenizer = given("llama")
    return attention.load(model, tokenizer)


def test_a_head_that_is_switched_off_is_one_whose_part_of_the_output_projections_input_is_0(given, own):
    model, _ = given("llama")
    width = own.info.d_head

    def without(_module, inputs):
        changed = inputs[0].clone()
        changed[..., 2 * width : 3 * width] = 0
        return (changed,)

    trace, logits = own.run(SENTENCE, [Ablate((1, 2))])
    handle = model.model.layers[1].self_attn.o_proj.register_forward_pre_hook(without)
    with torch.inference_mode():
        wanted = model(torch.tensor([[token.token_id for token in trace.tokens]])).logits[0].numpy()
    handle.remove()
    np.testing.assert_allclose(logits, wanted, atol=1e-4)
    assert not trace.layers[1].model_output[2].any()
    assert np.abs(logits - own.trace(SENTENCE).logits).max() > 1e-3


@pytest.mark.parametrize("kind", ["llama", "t5", "bloom", "minilm-l6", "toy"])
def test_weights_are_those_that_the_intervention_leaves(given, kind):
    own = attention.load(kind) if kind in {"toy", "minilm-l6"} else attention.load(*given(kind))
    plain = own.trace(SENTENCE)
    layer = len(plain.layers) - 1
    trace, _ = own.run(SENTENCE, [Ablate((layer, 0), "uniform"), CutEdge(layer, np.int64(1), 3, 1)])
    visible = ~plain.layers[layer].hidden(0)
    np.testing.assert_allclose(trace[layer, 0].weights, visible / visible.sum(axis=1, keepdims=True), atol=1e-6)
    wanted = plain[layer, 1].weights.copy()
    wanted[3, 1] = 0
    wanted[3] /= wanted[3].sum()
    np.testing.assert_allclose(trace[layer, 1].weights, wanted, atol=1e-5)
    np.testing.assert_allclose(trace[layer, 2].weights, plain[layer, 2].weights, atol=1e-6)
    assert trace.check() < 1e-4


def test_a_mean_is_that_of_the_outputs_and_a_patch_carries_a_run_into_another(own):
    plain, other = own.trace(SENTENCE), own.trace("The dog sat on the mat")
    assert len(plain.tokens) == len(other.tokens)
    averaged, logits = own.run(SENTENCE, [Ablate((0, 1), "mean")])
    mean = plain.layers[0].model_output[1].mean(axis=0)
    np.testing.assert_allclose(averaged.layers[0].model_output[1], np.tile(mean, (len(plain.tokens), 1)), atol=1e-6)
    # What another run's head gave, put in its place, is as if the head did the same here.
    again = own.run(SENTENCE, [Patch((0, 1), averaged)])
    np.testing.assert_allclose(again.logits, logits, atol=1e-6)
    half, _ = own.run(SENTENCE, [Patch((0, 1), other, tokens=(2,))])
    wanted = plain.layers[0].model_output[1].copy()
    wanted[2] = other.layers[0].model_output[1, 2]
    np.testing.assert_allclose(half.layers[0].model_output[1], wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "why"),
    [
        (lambda _: Ablate((3, 0)), ValueError, "layer must be between 0 and 2, got 3"),
        (lambda _: Ablate((0, 12)), ValueError, "head must be between 0 and 5, got 12"),
        (lambda _: CutEdge(0, 0, 99, 0), ValueError, "query must be between 0 and"),
        (lambda _: CutEdge(0, 0, 0, 99), ValueError, "key must be between 0 and"),
        (lambda _: CutEdge(0, 0, 0, 2), ValueError, "the mask hides token 2 from token 0"),
        (lambda trace: Patch((0, 0), trace, tokens=[99]), ValueError, "tokens must be between 0 and"),
        (lambda _: Patch((0, 0), attention.load("toy").trace("a")), ValueError, "source must have 3 layers of 6 heads"),
        (lambda _: Ablate((0, -1)), ValueError, "must not be negative"),
        (lambda _: Ablate((0, 0), "shuffled"), ValueError, "how must be one of zero, mean, uniform"),
        (lambda _: Ablate((0, 0.5)), TypeError, "whole number"),
        (lambda _: "zero", TypeError, "Ablate, CutEdge or Patch, got str"),
    ],
)
def test_an_intervention_that_is_not_possible_is_refused_with_what_is(own, make, error, why):
    with pytest.raises(error, match=why):
        own.run(SENTENCE, [make(own.trace(SENTENCE))])


# ------------------------------------------------------------------------------ what a trace offers


@pytest.mark.parametrize("texts", [([SENTENCE, "A dog"],), (5,), (SENTENCE, ["A dog"])])
def test_a_model_reads_one_text_at_a_time(own, texts):
    for run in (own.trace, attention.load("toy").trace, lambda text, *pair: own.run(text, [], *pair)):
        with pytest.raises((TypeError, ValueError), match=r"one string, got (list|int)|takes one text"):
            run(*texts)


def test_a_part_that_does_not_exist_is_refused(own):
    for name in ("decoder", "crosss"):
        with pytest.raises(ValueError, match=f"no {name} part"):
            own.trace(SENTENCE).part(name)


def test_a_trace_is_indexed_by_any_integers_and_says_what_it_is(own):
    trace = own.trace(SENTENCE)
    layer, head, query, key = np.unravel_index(trace.weights.argmax(), trace.weights.shape)
    assert trace[layer, head].weights[query, key] == trace.weights.max()
    np.testing.assert_array_equal(trace[-1, -1].scores, trace.scores[-1, -1])
    shown = show.step(trace, "softmax", layer=layer, head=head, cell=(query, key), html_action="return")
    assert f"head {head + 1}" in repr(shown)
    for place, error in (((3, 0), IndexError), ((0, 6), IndexError), ("a", TypeError), ((1, 2, 3), TypeError)):
        with pytest.raises(error):
            trace[place]
    predicted = own.next_token(trace)
    shown = (trace, trace[0], trace[0, 0], own, own.run(SENTENCE, []), own.info, predicted)
    assert all(len(repr(each)) < 200 for each in shown)
    assert f"<NextToken: {predicted.labels[predicted.logits[-1].argmax()]!r} " in repr(predicted)


@pytest.mark.parametrize("kind", ["llama", "t5", "toy"])
def test_a_trace_is_saved_whole_and_needs_no_model(given, tmp_path, kind):
    trace = (attention.load("toy") if kind == "toy" else attention.load(*given(kind))).trace(SENTENCE)
    trace.save(tmp_path / "run.npz")
    found = Trace.load(tmp_path / "run.npz")
    assert repr(found) == repr(trace)
    assert found == trace
    assert (found.info, found.structure, found.use) == (trace.info, trace.structure, trace.use)
    for one, other in zip(found.traces, trace.traces, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert (one.tokens, one.memory) == (other.tokens, other.memory)
    assert prove(found) == prove(trace)
    assert (found.logits is None) == (trace.logits is None)
    if trace.logits is not None:
        np.testing.assert_array_equal(found.logits, trace.logits)
    (tmp_path / "other.npz").write_bytes(b"no archive")
    np.savez(tmp_path / "another.npz", a=np.zeros(1))
    for name in ("other.npz", "another.npz"):
        with pytest.raises(ValueError, match="not a trace file"):
            Trace.load(tmp_path / name)


def test_traces_are_equal_only_if_every_bit_is(own):
    trace = own.trace(SENTENCE)
    assert trace == own.trace(SENTENCE)
    keys = trace.layers[1].keys.copy()
    keys[0, 2, 1] = np.nextafter(keys[0, 2, 1], 2, dtype=np.float32)
    layer = replace(trace.layers[1], keys=keys)
    assert layer != trace.layers[1]
    assert replace(layer, keys=trace.layers[1].keys.copy()) == trace.layers[1]
    other = replace(trace, layers=(trace.layers[0], layer, *trace.layers[2:]))
    assert other != trace
    assert trace != own.trace("The dog sat on the mat")
    assert trace != SENTENCE


def test_a_table_has_a_row_for_each_weight(own):
    trace = own.trace(SENTENCE)
    table = trace.to_pandas()
    assert len(table) == trace.weights.size
    row = table.query("layer == 1 and head == 4 and query == 5 and key == 2").iloc[0]
    assert (row["weight"], row["score"]) == (trace.weights[1, 4, 5, 2], trace.scores[1, 4, 5, 2])
    assert (row["query_token"], row["key_token"]) == (trace.tokens[5].text, trace.tokens[2].text)


# ------------------------------------------------------------------------------ what is there


def test_the_package_alone_tells_what_it_has_and_imports_it_when_it_is_used():
    program = """
import sys, attention
heavy = [name for name in ("numpy", "torch", "attention.core.trace", "attention.show") if name in sys.modules]
print(*sorted(name for name in dir(attention) if not name.startswith("_")))
print(heavy, attention.load("toy").trace("the cat").weights.shape, attention.show.step.__name__)
print(attention.models.get_info("toy").n_heads, "torch" in sys.modules)
print([set(dir(each)) - set(each.__all__) for each in (attention.show, attention.models)])
"""
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert process.stdout.splitlines() == [
        "Ablate CutEdge Patch Trace load models show trace",
        "[] (1, 3, 2, 2) step",
        "3 False",
        str([set(), set()]),
    ]
    assert all(hasattr(attention, name) for name in attention.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = attention.nothing
    assert (Path(attention.__file__).parent / "py.typed").is_file()


# ------------------------------------------------------------------------------ what the documentation says


def test_the_recipes_run_as_they_are_written(given, tmp_path, monkeypatch):
    model, tokenizer = given("llama")
    page = (ROOT / "docs" / "notebooks.md").read_text("utf-8").partition("## A model of your own")[2]
    code = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tokenizer, "chat_template", "{% for each in messages %}{{ each.content }}{% endfor %}")
    names = {"model": model, "tokenizer": tokenizer}
    exec(compile(code, "docs/notebooks.md", "exec"), names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["head.html", "run.npz"]
    # What was patched in is what the head gave without itself: nothing.
    place = names["layer"], names["head"]
    assert not names["patched"].layers[place[0]].model_output[place[1]].any()
    assert names["cut"][place].weights[3, 2] == 0
    assert names["moved"].shape == (len(names["trace"].tokens),)
    assert names["lens"].labels[names["trace"].logits[-1].argmax()] == names["top"][-1]


def test_what_transformerlens_records_is_where_the_table_says(given):
    model, tokenizer = given("llama")
    trace = attention.trace(model, tokenizer, SENTENCE)
    table = (ROOT / "docs" / "notebooks.md").read_text("utf-8").partition("| TransformerLens |")[2].partition("\n\n")[0]
    there, layer, left = {}, model.model.layers[2], {}
    for row in re.findall(r"^\| (.*) \| (.*) \|$", table, re.MULTILINE):
        names, expressions = (re.findall(r"`([^`]+)`", cell) for cell in row)
        pairs = zip(names, expressions, strict=False)
        there |= {name: eval(told, {"trace": trace}) for name, told in pairs if told.startswith(("trace.", "trace["))}
    hooks = [
        module.register_forward_hook(
            lambda _module, inputs, output, name=name: left.update({f"{name} in": inputs, name: output})
        )
        for name, module in (("heads", layer.self_attn), ("layer", layer), ("joined", layer.self_attn.o_proj))
    ]
    with torch.inference_mode():
        model(torch.tensor([[token.token_id for token in trace.tokens]]))
    for hook in hooks:
        hook.remove()
    wanted = {
        'cache["pattern", 2]': left["heads"][1][0],
        'cache["attn_out", 2]': left["heads"][0][0],
        'cache["resid_pre", 2]': left["layer in"][0][0],
        'cache["resid_post", 2]': (left["layer"][0] if isinstance(left["layer"], tuple) else left["layer"])[0],
        'cache["z", 2]': left["joined in"][0][0].unflatten(-1, (6, -1)).transpose(0, 1),
        "model.W_Q[2]": layer.self_attn.q_proj.weight.detach().T,
    }
    for name, numbers in wanted.items():
        np.testing.assert_allclose(there[name], numbers, atol=1e-5, err_msg=name)
