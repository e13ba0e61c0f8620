"""A random model the size of BERT-large: what grows with layers, heads and width works at full size."""

import json

import pytest
import torch
from transformers import BertConfig, BertModel

from attention.answer import cache
from attention.models import hub, local
from attention.models.memory import MAX_MEMORY_VARIABLE
from attention.page.pages import STEP_BY_STEP
from tests import tiny_models
from tests.pages.forgetting import forget

N_LAYERS, N_HEADS, D_MODEL, N_TOKENS = 24, 16, 1024, 512
# Each letter is a token of the small vocabulary; two more begin and end the text.
TEXT = "a t " * ((N_TOKENS - 2) // 2 - 1) + "a t"


@pytest.fixture
def large(tmp_path, monkeypatch):
    """The model as a folder of the owner's; its weights have 2 bytes a number on disk, and 4 in memory."""
    folder = tiny_models.make("bert", tmp_path / "large")
    vocab_size = json.loads((folder / "config.json").read_text())["vocab_size"]
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=D_MODEL,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        intermediate_size=4 * D_MODEL,
        max_position_embeddings=N_TOKENS,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).to(torch.bfloat16).save_pretrained(folder)
    monkeypatch.setenv(hub.HUB_DIR_VARIABLE, str(tmp_path / "hub"))
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folder))
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, "2000")
    forget()
    yield folder.name
    forget()


@pytest.mark.slow
def test_a_trace_of_as_many_tokens_as_it_reads_holds_and_is_shown(large, open_page):
    model = cache.model_or_reason(large)
    assert model.info.n_parameters == pytest.approx(303e6, rel=0.01)
    # The page shows the same run.
    trace = cache.record(model, TEXT, "none").trace
    assert [layer.queries.shape for layer in trace.layers] == [(N_HEADS, N_TOKENS, D_MODEL // N_HEADS)] * N_LAYERS
    assert {state.shape for state in trace.hidden_states} == {(N_TOKENS, D_MODEL)}
    assert trace.check() < 1e-4
    del model, trace
    # In a link, layers and heads count from 1.
    shown = open_page(STEP_BY_STEP.file, model=large, text=TEXT, layer=str(N_LAYERS), head=str(N_HEADS), step="softmax")
    assert shown.notices == []
    assert (shown.view.model, shown.view.pane.layer, shown.view.pane.head) == (large, N_LAYERS - 1, N_HEADS - 1)
    assert [proof.startswith("✓") for proof in shown.proofs] == [True]
