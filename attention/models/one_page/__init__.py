"""A whole model on one page of NumPy, run with the model's own weights and compared with the model.

Each file of this folder is a complete forward pass, and a page shows the file itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from attention.core.steps import softmax
from attention.core.trace import Difference, Trace
from attention.models.one_page.bert import bert
from attention.models.one_page.llama import llama

N_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Insides:
    """A model's own arrays by their names in its files, and its configuration."""

    kind: str
    arrays: Mapping[str, Array]
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Passed:
    """The result of a forward pass: each layer's hidden units, and the likeliest next tokens with their probabilities.

    ``states`` is the largest difference from the model's own vectors after any layer; ``ends`` that from its logits or,
    without predictions, from its last vectors.
    """

    source: str
    neurons: tuple[Float[Array, "T F"], ...]
    candidates: tuple[tuple[str, float], ...]
    states: Difference
    ends: Difference


def is_written(insides: Insides) -> bool:
    """Return whether a model matches one of those on one page in every respect."""
    config = insides.config
    if insides.kind == "bert":
        return config["hidden_act"] == "gelu" and config.get("position_embedding_type") in (None, "absolute")
    if insides.kind != "llama" or "norm.weight" not in insides.arrays:
        return False
    has_bias = config.get("attention_bias") or config.get("mlp_bias")
    is_plain = config["hidden_act"] == "silu" and config["rope_parameters"].get("rope_type") == "default"
    is_usual = config.get("head_dim") in (None, config["hidden_size"] // config["num_attention_heads"])
    return bool(is_plain and is_usual and config["tie_word_embeddings"] and not has_bias)


def run(insides: Insides, trace: Trace, logits: Float[Array, " V"] | None = None, labels: Sequence[str] = ()) -> Passed:
    """Run a model's page on the tokens of a trace, and compare it with the trace and the model's own logits.

    ``labels`` are those of the logits, if it predicts.

    Raises:
        ValueError: there is no such page (see ``is_written``).
    """
    if not is_written(insides):
        raise ValueError(f"there is no page for a model of the kind {insides.kind!r} that is like this one")
    config, info = insides.config, trace.info
    ids = [token.token_id for token in trace.tokens]
    candidates: tuple[tuple[str, float], ...] = ()
    if insides.kind == "bert":
        segments = [token.segment for token in trace.tokens]
        out, layers = bert(insides.arrays, ids, segments, info.n_layers, info.n_heads, config["layer_norm_eps"])
        ends = Difference.between(out, trace.hidden_states[-1])
    else:
        base, shared = config["rope_parameters"]["rope_theta"], info.n_key_value_heads
        out, layers = llama(insides.arrays, ids, info.n_layers, info.n_heads, shared, base, config["rms_norm_eps"])
        probabilities = softmax(out[-1])
        best = np.argsort(-probabilities, kind="stable")[:N_CANDIDATES].tolist() if labels else ()
        candidates = tuple((labels[token], float(probabilities[token])) for token in best)
        ends = Difference() if logits is None else Difference.between(out[-1], logits)
    states = Difference()
    for layer, state in zip(layers, trace.hidden_states[1:], strict=True):
        states = states.worst(Difference.between(layer["out"], state))
        layer["neurons"].setflags(write=False)
    source = (Path(__file__).parent / f"{insides.kind}.py").read_text("utf-8")
    return Passed(source, tuple(layer["neurons"] for layer in layers), candidates, states, ends)
