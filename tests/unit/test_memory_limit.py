"""The memory of a model, and the limits set by the server's owner."""

import pytest

from attention.models import ModelUnavailableError, find_others, load, local, memory
from attention.models.memory import MAX_MEMORY_VARIABLE, Needed
from tests.sweep import sweep
from tests.tiny_models import BESIDE, KINDS, MIXED, OTHERS, TODAY, UNEVEN


@pytest.mark.parametrize(
    "kind", sweep([*KINDS, *TODAY, *OTHERS, *UNEVEN, *MIXED, *BESIDE], quick=[*KINDS[::2], *TODAY[::2]])
)
def test_what_is_reckoned_is_what_a_record_of_the_longest_text_takes_at_the_least(model_of, kind):
    """It may be too much, but not by far."""
    model = model_of(kind)
    text = "0" * 64 if kind == "vit" else "The cat sat on the mat. " * 80
    target = None if model.info.n_decoder_layers == 0 else "The cat sat on the mat. " * 80
    trace = model.trace(text, target)
    assert len(trace.tokens) >= 0.9 * model.info.max_tokens
    biases = sum(each.nbytes for each in {id(layer.bias): layer.bias for part in trace.traces
                                          for layer in part.layers if layer.bias is not None}.values())  # fmt: skip
    assert trace.nbytes - biases <= Needed.by(model.info).record * 1.2 <= 4 * trace.nbytes
    parameters = model._stack.module.parameters()
    assert sum(each.numel() for each in parameters) * 4 <= Needed.by(model.info).weights * 1.5


@pytest.fixture
def folder(folder_of, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_HUB_DIR", str(tmp_path))
    monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folder_of("bert")))


@pytest.mark.usefixtures("folder")
def test_what_does_not_fit_is_refused_with_the_sum_before_it_is_loaded(monkeypatch):
    (found,) = find_others()
    needed = Needed.by(found.info)
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, str(needed.total // 10**6 + 1))
    (fits,) = find_others()
    assert fits.info == found.info
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, str(needed.total // 10**6))
    (refused,) = find_others()
    assert refused.info is None
    with pytest.raises(ModelUnavailableError, match="are allowed"):
        load(refused.model_id)


@pytest.mark.parametrize(
    ("chosen", "there", "wanted"),
    [("", 8 * 10**9, 6 * 10**9), ("500", 8 * 10**9, 500 * 10**6), ("a lot", 4 * 10**9, 3 * 10**9)],
)
def test_the_owner_chooses_or_it_is_a_share_of_what_is_there(monkeypatch, tmp_path, chosen, there, wanted):
    limit = tmp_path / "memory.max"
    limit.write_text(f"{there}\n")
    monkeypatch.setattr(memory, "_CONTAINER_LIMIT", limit)
    monkeypatch.setenv(MAX_MEMORY_VARIABLE, chosen)
    assert memory.allowed_bytes() == wanted
    limit.write_text("max\n")
    assert memory.allowed_bytes() >= min(wanted, 500 * 10**6)
