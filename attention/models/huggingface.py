"""Any transformers model as a model of the catalogue: run once, recorded, turned into a trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Everything is read from disk; without this, a missing file would wait 23 seconds for a hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from numpy import ndarray as Array
from tokenizers import Encoding, Tokenizer
from transformers import AutoModel, AutoTokenizer

from attention import masks
from attention.masks import MaskName
from attention.models.base import Batch, Encoded, check_batch
from attention.models.recorder import ATTENTION_NAME, AttentionCall, recording
from attention.text import clean
from attention.trace import Cut, Embeddings, LayerTrace, ModelInfo, Projections, Token, Trace

__all__ = ["HuggingFaceModel"]


class HuggingFaceModel:
    """A BERT-like encoder, read from a local folder in ``from_pretrained`` layout."""

    def __init__(self, info: ModelInfo, folder: Path) -> None:
        """Load tokenizer and weights, in float32, for inference only."""
        transformers.utils.logging.disable_progress_bar()
        # Sessions run side by side; if each used every core, they would mostly wait for each other.
        torch.set_num_threads(1)
        self._info = info
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._pad_id: int = tokenizer.pad_token_id
        self._special_ids = frozenset(tokenizer.all_special_ids)
        self._unknown_id: int | None = tokenizer.unk_token_id
        # The Rust tokenizer is used as it is: with truncation and padding switched off once, encoding
        # changes nothing in it, so threads can share it.
        self._tokenizer: Tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._model: Any = AutoModel.from_pretrained(
            folder, local_files_only=True, attn_implementation=ATTENTION_NAME, dtype=torch.float32
        ).eval()
        self._projections = tuple(_bert_projections(layer) for layer in self._model.encoder.layer)

    @property
    def info(self) -> ModelInfo:
        """What the model is."""
        return self._info

    @torch.inference_mode()
    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """Run the model once on the text and record it; see ``Model.trace``."""
        text = clean(text)
        n_padding = masks.n_padding(mask)
        pair = None if pair is None else clean(pair) or None
        encoding, cut = self._read(text, pair, self._info.max_tokens - n_padding)
        ids = encoding.ids + [self._pad_id] * n_padding
        segments = encoding.type_ids + [0] * n_padding
        additive = masks.build(mask, len(ids))

        with recording() as calls:
            result = self._model(
                input_ids=torch.tensor([ids]),
                token_type_ids=torch.tensor([segments]),
                attention_mask=None if additive is None else torch.from_numpy(additive)[None, None],
                output_hidden_states=True,
            )
        hidden_states = tuple(state[0].numpy() for state in result.hidden_states)
        # All layers were given the same mask; so are their records.
        shared_masks = {id(call.mask): _recorded_mask(call.mask) for call in calls}
        return Trace(
            text=text,
            tokens=self._tokens(encoding, text, pair, n_padding),
            layers=tuple(
                _layer_trace(call, inputs, projections, shared_masks[id(call.mask)])
                for call, inputs, projections in zip(calls, hidden_states[:-1], self._projections, strict=True)
            ),
            info=self._info,
            embeddings=self._embeddings(ids, segments),
            hidden_states=hidden_states,
            cut=cut,
        )

    def encode(self, text: str) -> Encoded:
        """Clean a text and cut it into tokens; see ``Model.encode``."""
        text = clean(text)
        encoding, cut = self._read(text, None, self._info.max_tokens)
        return Encoded(text, self._tokens(encoding, text, None, 0), cut)

    @torch.inference_mode()
    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """Run the model once on several texts of equal length; see ``Model.trace_batch``."""
        check_batch(texts)
        ids = torch.tensor([[token.token_id for token in text.tokens] for text in texts])
        with recording() as calls:
            self._model(input_ids=ids, token_type_ids=torch.zeros_like(ids))
        return Batch(tuple(texts), tuple(map(_batch_trace, calls)), self._info)

    def _read(self, text: str, pair: str | None, limit: int) -> tuple[Encoding, Cut | None]:
        """Encode a cleaned text in which there must be something to read."""
        if not text:
            raise ValueError("There is no text to look at: type at least one word.")
        encoding, cut = self._encode(text, pair, limit)
        if all(word is None for word in encoding.word_ids):
            raise ValueError("The text has no visible characters: type at least one word.")
        return encoding, cut

    def _encode(self, text: str, pair: str | None, limit: int) -> tuple[Encoding, Cut | None]:
        """Encode; if the model cannot take so many tokens, encode what is left after cutting the text."""
        encoding = self._tokenizer.encode(text, pair)
        total = len(encoding.ids)
        if total <= limit:
            return encoding, None
        if pair is not None:
            raise ValueError(
                f"The two texts have {total} tokens together, and {self._info.name} takes {limit}: shorten one of them."
            )
        # One place is kept for the special token at the end.
        last_kept = limit - 2
        end = encoding.offsets[last_kept][1]
        encoding = self._tokenizer.encode(text[:end])
        while len(encoding.ids) > limit:
            end -= 1
            encoding = self._tokenizer.encode(text[:end])
        last_word = text[:end].rsplit(maxsplit=1)[-1]
        return encoding, Cut(kept=len(encoding.ids), total=total, last_word=last_word)

    def _tokens(self, encoding: Encoding, text: str, pair: str | None, n_padding: int) -> tuple[Token, ...]:
        texts = (text, pair or "")
        words: dict[tuple[int, int], int] = {}
        tokens = []
        # Each of these is made anew, whole, whenever it is asked for.
        rows = zip(encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids, encoding.type_ids, strict=True)
        for position, (token_id, token, (start, end), word_id, segment) in enumerate(rows):
            typed = texts[segment][start:end] if word_id is not None else ""
            word = None if word_id is None else words.setdefault((segment, word_id), len(words))
            is_special = word is None or (token_id in self._special_ids and token_id != self._unknown_id)
            tokens.append(
                Token(
                    token,
                    typed,
                    word,
                    position,
                    token_id,
                    is_special,
                    segment,
                    start=None if word is None else start,
                )
            )
        pad_text = self._tokenizer.id_to_token(self._pad_id) or ""
        tokens += [
            Token(pad_text, "", None, len(tokens) + i, self._pad_id, is_special=True, is_padding=True)
            for i in range(n_padding)
        ]
        return tuple(tokens)

    def _embeddings(self, ids: list[int], segments: list[int]) -> Embeddings:
        parts = self._model.embeddings
        return Embeddings(
            words=parts.word_embeddings.weight[ids].numpy(),
            positions=parts.position_embeddings.weight[: len(ids)].numpy(),
            segments=_rows(parts.token_type_embeddings.weight, segments),
        )


def _rows(table: torch.Tensor, indices: list[int]) -> Array:
    """Return rows of a table; if it is the same row throughout, it is kept once."""
    if len(set(indices)) == 1:
        return np.broadcast_to(table[indices[0]].numpy(), (len(indices), table.shape[1]))
    return table[indices].numpy()


def _layer_trace(call: AttentionCall, inputs: Array, projections: Projections, mask: Array | None) -> LayerTrace:
    return LayerTrace(
        inputs=inputs,
        queries=call.query[0].numpy(),
        keys=call.key[0].numpy(),
        values=call.value[0].numpy(),
        mask=mask,
        scale=float(call.scaling),
        # SDPA's forward returns (batch, queries, heads, width).
        model_output=call.output[0].transpose(0, 1).numpy(),
        kind="masked self" if masks.is_causal(mask) else "self",
        projections=projections,
    )


def _batch_trace(call: AttentionCall) -> LayerTrace:
    """Record a layer of a batch, the heads of the first text first."""
    n_texts, n_heads, n_tokens, _ = call.query.shape
    mask = _recorded_batch_mask(call.mask, (n_texts, n_heads, n_tokens, n_tokens))
    return LayerTrace(
        inputs=None,
        queries=call.query.flatten(0, 1).numpy(),
        keys=call.key.flatten(0, 1).numpy(),
        values=call.value.flatten(0, 1).numpy(),
        mask=mask,
        scale=float(call.scaling),
        model_output=call.output.transpose(1, 2).flatten(0, 1).numpy(),
    )


def _recorded_batch_mask(mask: torch.Tensor | None, shape: tuple[int, int, int, int]) -> Array | None:
    """Return a call's mask for each head of each text; None if it hides nothing."""
    if mask is None or not mask.any():
        return None
    return np.broadcast_to(masks.hide_lowest(mask.numpy()), shape).reshape(-1, *shape[2:])


def _recorded_mask(mask: torch.Tensor | None) -> Array | None:
    """Return a call's mask without the batch axis, and without the head axis where all heads share it."""
    if mask is None:
        return None
    array = masks.hide_lowest(mask[0].numpy())
    return array[0] if array.shape[0] == 1 else array


def _bert_projections(layer: Any) -> Projections:
    attention = layer.attention
    W_Q, b_Q = _linear(attention.self.query)
    W_K, b_K = _linear(attention.self.key)
    W_V, b_V = _linear(attention.self.value)
    W_O, b_O = _linear(attention.output.dense)
    return Projections(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)


def _linear(module: torch.nn.Linear) -> tuple[Array, Array]:
    """Return a linear layer's weight as (in, out) and its bias, as read-only views of the model's own memory."""
    weight, bias = module.weight.detach().numpy().T, module.bias.detach().numpy()
    weight.setflags(write=False)
    bias.setflags(write=False)
    return weight, bias
