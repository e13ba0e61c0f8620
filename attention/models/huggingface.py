"""Any transformers model as a model of the catalogue: run once, recorded, turned into a trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import attrgetter
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
from attention.models import byte_level
from attention.models.base import Batch, Encoded, NextToken, check_batch
from attention.models.recorder import ATTENTION_NAME, AttentionCall, recording
from attention.positions import Rotary
from attention.text import clean
from attention.trace import Cut, Embeddings, LayerTrace, ModelInfo, Norm, Projections, Token, Trace

__all__ = ["Architecture", "HuggingFaceModel"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """What differs between architectures: where in the model, and in each layer, their parts are (None: not there)."""

    layers: str
    query: str
    key: str
    value: str
    output: str
    words: str
    positions: str | None = None
    segments: str | None = None
    # The RMSNorm before a layer's attention, the one after the last layer, and what turns queries and keys.
    norm: str | None = None
    final_norm: str | None = None
    rotary: str | None = None
    is_causal: bool = False
    is_byte_level: bool = False

    @property
    def takes_pairs(self) -> bool:
        """Tell whether two texts can be told apart."""
        return self.segments is not None


ARCHITECTURES = {
    "bert": Architecture(
        layers="encoder.layer",
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        output="attention.output.dense",
        words="embeddings.word_embeddings",
        positions="embeddings.position_embeddings",
        segments="embeddings.token_type_embeddings",
    ),
    "llama": Architecture(
        layers="layers",
        query="self_attn.q_proj",
        key="self_attn.k_proj",
        value="self_attn.v_proj",
        output="self_attn.o_proj",
        words="embed_tokens",
        norm="input_layernorm",
        final_norm="norm",
        rotary="rotary_emb",
        is_causal=True,
        is_byte_level=True,
    ),
}


@dataclass(frozen=True, slots=True)
class _Layer:
    """The parts of one layer that its record takes along."""

    projections: Projections
    norm: torch.nn.Module | None
    norm_parts: Norm | None


class HuggingFaceModel:
    """A model of transformers, of one of ``ARCHITECTURES``, read from a local folder in ``from_pretrained`` layout."""

    def __init__(self, info: ModelInfo, folder: Path) -> None:
        """Load tokenizer and weights, in float32, for inference only."""
        transformers.utils.logging.disable_progress_bar()
        # Sessions run side by side; if each used every core, they would mostly wait for each other.
        torch.set_num_threads(1)
        self._info = info
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._pad_id: int = tokenizer.pad_token_id
        added = tokenizer.added_tokens_decoder.items()
        self._special_ids = frozenset(tokenizer.all_special_ids) | {number for number, token in added if token.special}
        # The Rust tokenizer is used as it is: with truncation and padding switched off once, encoding
        # changes nothing in it, so threads can share it.
        self._tokenizer: Tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._n_closing = _n_closing(self._tokenizer)
        self._model: Any = AutoModel.from_pretrained(
            folder, local_files_only=True, attn_implementation=ATTENTION_NAME, dtype=torch.float32
        ).eval()
        self._architecture = ARCHITECTURES[self._model.config.model_type]
        # Where every text can be cut into bytes, no token means "unknown".
        self._unknown_id: int | None = None if self._architecture.is_byte_level else tokenizer.unk_token_id
        self._layers = tuple(
            _layer(layer, self._architecture) for layer in attrgetter(self._architecture.layers)(self._model)
        )
        self._final_norm = self._take_final_norm()

    def _take_final_norm(self) -> torch.nn.Module | None:
        """Take out the norm after the last layer, so that the last hidden state is what that layer left."""
        name = self._architecture.final_norm
        if name is None:
            return None
        norm: torch.nn.Module = getattr(self._model, name)
        setattr(self._model, name, torch.nn.Identity())
        return norm

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

        with recording() as calls:
            result = self._run(torch.tensor([ids]), torch.tensor([segments]), self._mask(mask, len(ids)), is_whole=True)
        states = tuple(state[0].numpy() for state in result.hidden_states)
        rotary = self._rotary(result.hidden_states[0])
        # All layers were given the same mask; so are their records.
        shared_masks = {id(call.mask): _recorded_mask(call.mask) for call in calls}
        return Trace(
            text=text,
            tokens=self._tokens(encoding, text, pair, n_padding),
            layers=tuple(
                self._layer_trace(call, state, layer, shared_masks[id(call.mask)], rotary)
                for call, state, layer in zip(calls, states[:-1], self._layers, strict=True)
            ),
            info=self._info,
            embeddings=self._embeddings(ids, segments),
            hidden_states=states,
            cut=cut,
        )

    def _run(self, ids: torch.Tensor, segments: torch.Tensor, mask: Array | None, *, is_whole: bool) -> Any:
        """Run the model; with ``is_whole``, its hidden states are kept."""
        own = {"token_type_ids": segments} if self._architecture.takes_pairs else {"use_cache": False}
        additive = None if mask is None else torch.from_numpy(mask)[None, None]
        return self._model(input_ids=ids, attention_mask=additive, output_hidden_states=is_whole, **own)

    def _mask(self, mask: MaskName | Array | None, n_tokens: int) -> Array | None:
        """Return the additive mask to run with: what was asked for, and what the model hides by itself."""
        additive = masks.build(mask, n_tokens)
        if not self._architecture.is_causal:
            return additive
        causal = masks.causal(n_tokens)
        return causal if additive is None else causal + additive

    @torch.inference_mode()
    def next_token(self, trace: Trace) -> NextToken | None:
        """Say what comes next after the text of a trace of this model; see ``Model.next_token``."""
        if self._final_norm is None or not self._model.config.tie_word_embeddings:
            return None
        last = max(token.position for token in trace.tokens if not token.is_padding)
        stream = torch.from_numpy(np.stack([state[last] for state in trace.hidden_states]))
        logits = self._final_norm(stream) @ attrgetter(self._architecture.words)(self._model).weight.T
        return NextToken(logits.numpy(), *self._vocabulary)

    @cached_property
    def _vocabulary(self) -> tuple[tuple[str, ...], tuple[str | None, ...]]:
        """How every token is shown, and what it adds to a text."""
        size = self._model.config.vocab_size
        tokens = [self._tokenizer.id_to_token(number) or "" for number in range(size)]
        texts = (None if i in self._special_ids else byte_level.text_of(token) for i, token in enumerate(tokens))
        return tuple(map(byte_level.shown, tokens)), tuple(texts)

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
            self._run(ids, torch.zeros_like(ids), self._mask(None, ids.shape[1]), is_whole=False)
        return Batch(tuple(texts), tuple(map(_batch_trace, calls)), self._info)

    def _read(self, text: str, pair: str | None, limit: int) -> tuple[Encoding, Cut | None]:
        """Encode a cleaned text in which there must be something to read."""
        if not text:
            raise ValueError("There is no text to look at: type at least one word.")
        if pair is not None and not self._architecture.takes_pairs:
            raise ValueError(f"{self._info.name} takes one text, not two.")
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
        # Room is kept for the special token at the end, where the model adds one.
        last_kept = limit - 1 - self._n_closing
        end = encoding.offsets[last_kept][1]
        encoding = self._tokenizer.encode(text[:end])
        while len(encoding.ids) > limit:
            end -= 1
            encoding = self._tokenizer.encode(text[:end])
        last_word = text[:end].rsplit(maxsplit=1)[-1]
        return encoding, Cut(kept=len(encoding.ids), total=total, last_word=last_word)

    def _tokens(self, encoding: Encoding, text: str, pair: str | None, n_padding: int) -> tuple[Token, ...]:
        """Return the tokens, and so many of padding after them."""
        if self._architecture.is_byte_level:
            tokens = _byte_level_tokens(encoding, text, self._special_ids)
        else:
            tokens = self._word_piece_tokens(encoding, text, pair)
        pad_text = self._tokenizer.id_to_token(self._pad_id) or ""
        padding = (
            Token(pad_text, "", None, len(tokens) + i, self._pad_id, is_special=True, is_padding=True)
            for i in range(n_padding)
        )
        return (*tokens, *padding)

    def _word_piece_tokens(self, encoding: Encoding, text: str, pair: str | None) -> list[Token]:
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
        return tokens

    def _embeddings(self, ids: list[int], segments: list[int]) -> Embeddings:
        words, positions, segment_table = (
            None if name is None else attrgetter(name)(self._model).weight
            for name in (self._architecture.words, self._architecture.positions, self._architecture.segments)
        )
        assert words is not None
        return Embeddings(
            words=words[ids].numpy(),
            positions=None if positions is None else positions[: len(ids)].numpy(),
            segments=None if segment_table is None else _rows(segment_table, segments),
        )

    def _rotary(self, states: torch.Tensor) -> Rotary | None:
        """Return by how much the model turns queries and keys at each position: from its own table of angles."""
        if self._architecture.rotary is None:
            return None
        positions = torch.arange(states.shape[1])[None]
        cosines, sines = attrgetter(self._architecture.rotary)(self._model)(states, positions)
        # The model's table has each angle twice, once for either number of a pair.
        half = cosines.shape[-1] // 2
        return Rotary(cosines[0, :, :half].clone().numpy(), sines[0, :, :half].clone().numpy())

    def _layer_trace(
        self, call: AttentionCall, state: Array, layer: _Layer, mask: Array | None, rotary: Rotary | None
    ) -> LayerTrace:
        is_masked = self._architecture.is_causal or masks.is_causal(mask)
        return LayerTrace(
            # The norm is run once more: what it gave was not noted.
            inputs=state if layer.norm is None else layer.norm(torch.from_numpy(state)).numpy(),
            queries=call.query[0].numpy(),
            keys=call.key[0].numpy(),
            values=call.value[0].numpy(),
            mask=mask,
            scale=float(call.scaling),
            # SDPA's forward returns (batch, queries, heads, width).
            model_output=call.output[0].transpose(0, 1).numpy(),
            kind="masked self" if is_masked else "self",
            projections=layer.projections,
            rotary=rotary,
            norm=layer.norm_parts,
        )


def _n_closing(tokenizer: Tokenizer) -> int:
    """Return how many tokens are added at the end of every text."""
    return len(list(takewhile(lambda word: word is None, reversed(tokenizer.encode("a").word_ids))))


def _byte_level_tokens(encoding: Encoding, text: str, special_ids: frozenset[int]) -> list[Token]:
    """Return tokens of bytes: a space before a word is part of its token, and not of what was typed for it.

    Of a character that is several tokens, the first one has it as typed, and the others nothing.
    """
    starts = byte_level.word_starts(text)
    words: dict[int, int] = {}
    tokens, covered = [], 0
    for position, (token_id, name, (start, end)) in enumerate(
        zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True)
    ):
        typed = text[max(start, covered) : end].lstrip(" ")
        covered = max(covered, end)
        # A space that is a token of its own belongs to the word after it.
        begin = min(end - len(typed) if typed or text[start:end].isspace() else start, len(text) - 1)
        word = words.setdefault(starts[begin], len(words))
        is_special = token_id in special_ids
        tokens.append(Token(byte_level.shown(name), typed, word, position, token_id, is_special, start=begin))
    return tokens


def _rows(table: torch.Tensor, indices: list[int]) -> Array:
    """Return rows of a table; if it is the same row throughout, it is kept once."""
    if len(set(indices)) == 1:
        return np.broadcast_to(table[indices[0]].numpy(), (len(indices), table.shape[1]))
    return table[indices].numpy()


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
    """Return a call's mask for each head of each text, or once if all share it; None if it hides nothing."""
    if mask is None or not mask.any():
        return None
    if mask.shape[:2] == (1, 1):
        return masks.hide_lowest(mask[0, 0].numpy())
    return np.broadcast_to(masks.hide_lowest(mask.numpy()), shape).reshape(-1, *shape[2:])


def _recorded_mask(mask: torch.Tensor | None) -> Array | None:
    """Return a call's mask without the batch axis, and without the head axis where all heads share it."""
    if mask is None:
        return None
    array = masks.hide_lowest(mask[0].numpy())
    return array[0] if array.shape[0] == 1 else array


def _layer(layer: Any, architecture: Architecture) -> _Layer:
    names = (architecture.query, architecture.key, architecture.value, architecture.output)
    (W_Q, b_Q), (W_K, b_K), (W_V, b_V), (W_O, b_O) = (_linear(attrgetter(name)(layer)) for name in names)
    projections = Projections(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)
    if architecture.norm is None:
        return _Layer(projections, None, None)
    norm = attrgetter(architecture.norm)(layer)
    return _Layer(projections, norm, Norm(_shared(norm.weight), norm.variance_epsilon))


def _linear(module: torch.nn.Linear) -> tuple[Array, Array | None]:
    """Return a linear layer's weight as (in, out) and its bias, as read-only views of the model's own memory."""
    bias: torch.Tensor | None = module.bias
    return _shared(module.weight).T, None if bias is None else _shared(bias)


def _shared(parameter: torch.Tensor) -> Array:
    array = parameter.detach().numpy()
    array.setflags(write=False)
    return array
