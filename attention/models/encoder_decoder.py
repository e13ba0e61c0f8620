"""The decoder of an encoder–decoder: what it writes, and what is recorded while it reads what it has written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from transformers import DynamicCache, EncoderDecoderCache

from attention.core import masks
from attention.core.kinds import CROSS, WRITTEN
from attention.core.trace import Cut, Token, Trace
from attention.models.generic_stack import OtherDecoder
from attention.models.recorder import AttentionCall, recording
from attention.models.stack import LayerStack
from attention.models.tokens import TextReader

__all__ = ["TargetReader"]

# The most tokens that it writes: enough for a sentence or two.
MAX_WRITTEN = 64


class TargetReader:
    """A decoder that reads the target text, which is either given or written by the model itself."""

    def __init__(self, model: Any, stack: LayerStack | OtherDecoder, reader: TextReader) -> None:
        """Take a model with its language-modelling head, and its stack of decoder layers."""
        self._model = model
        self._settings: Any = model.generation_config
        self._stack = stack
        self._reader = reader

    def add_to(self, source: Trace, encoded: Any, target: str | None) -> Trace:
        """Return the encoder's trace with those of the decoder's two attentions.

        Each token of the target attends to itself and those before it, whatever the mask, and to all tokens of the
        source except padding.

        Args:
            source: the encoder's trace.
            encoded: the encoder's output, as transformers returns it; its last state has the shape (1, K, M).
            target: a cleaned text; None for what the model writes.
        """
        hidden = np.array([token.is_padding for token in source.tokens])
        text, tokens, cut = self._target(source, encoded, hidden, target)
        result, calls = self._run(tokens, encoded.last_hidden_state, hidden)
        states = tuple(state[0].numpy() for state in result.hidden_states)
        own, other = calls[0::2], calls[1::2]
        streams = self._stack.streams_after_self(own, states[:-1])
        ids = [token.token_id for token in tokens]
        decoder = Trace(
            text=text,
            tokens=tokens,
            layers=self._stack.self_traces(own, states[:-1]),
            info=replace(source.info, n_layers=source.info.n_decoder_layers),
            embeddings=self._stack.embeddings(ids, [0] * len(ids)),
            hidden_states=states,
            cut=cut,
            use=WRITTEN,
            structure=self._stack.structure,
        )
        cross = replace(
            decoder,
            layers=self._stack.cross_traces(other, streams, source.hidden_states[-1]),
            embeddings=None,
            hidden_states=(*streams, states[-1]) if streams else (),
            memory=source.tokens,
            use=CROSS,
        )
        return replace(source, decoder=decoder, cross=cross)

    def _target(
        self, source: Trace, encoded: Any, hidden: Array, target: str | None
    ) -> tuple[str, tuple[Token, ...], Cut | None]:
        """Return the target text, its tokens as the decoder reads them, and where it was cut."""
        limit = source.info.max_tokens
        if target is None:
            return *self._reader.written(self._write(source, encoded, hidden, min(limit - 1, MAX_WRITTEN))), None
        tokens, cut = self._reader.target(self._opening(source, encoded, hidden), target, limit)
        return target, tokens, cut

    def _opening(self, source: Trace, encoded: Any, hidden: Array) -> list[int]:
        """Return the tokens with which the decoder begins a text: the first one, and perhaps the code of a language."""
        settings, own = self._settings, self._reader.opening
        start = settings.bos_token_id if settings.decoder_start_token_id is None else settings.decoder_start_token_id
        if settings.forced_bos_token_id is not None:
            return [start, settings.forced_bos_token_id]
        if not own:
            return [start]
        # What the tokenizer adds is for a source: of which language a target is, the model says itself. It may have to
        # end what it writes with the last token that there is room for.
        written = self._write(source, encoded, hidden, len(own) + 1, min_length=0)[1 : len(own) + 1]
        return [start, *(written if len(written) == len(own) and self._reader.are_special(written) else own)]

    def _write(self, source: Trace, encoded: Any, hidden: Array, limit: int, **settings: object) -> list[int]:
        """Return what the model writes, always taking the most likely token, without the one that ends the text."""
        ids: list[int] = self._model.generate(
            # Some models never write three tokens in a row that the source has.
            torch.tensor([[token.token_id for token in source.tokens if not token.is_padding]]),
            encoder_outputs=encoded,
            attention_mask=torch.from_numpy(~hidden)[None].long(),
            max_new_tokens=limit,
            # A cache that grows: generate() would make one with as many layers as the encoder has.
            past_key_values=EncoderDecoderCache(DynamicCache(), DynamicCache()),
            # A model may have other settings for generation; here it always writes greedily.
            num_beams=1,
            do_sample=False,
            early_stopping=False,
            length_penalty=1.0,
            **settings,
        )[0].tolist()
        ends = self._settings.eos_token_id
        is_ended = ids[-1] in (ends if isinstance(ends, list) else [ends])
        return ids[:-1] if is_ended and len(ids) > 1 else ids

    def _run(self, tokens: tuple[Token, ...], memory: torch.Tensor, hidden: Array) -> tuple[Any, list[AttentionCall]]:
        """Run the decoder once over all tokens of the target, and record it."""
        with recording() as calls:
            result = self._stack.module(
                input_ids=torch.tensor([[token.token_id for token in tokens]]),
                encoder_hidden_states=memory,
                output_hidden_states=True,
                use_cache=False,
                **self._masks(len(tokens), hidden),
            )
        return result, calls

    def _masks(self, n_tokens: int, hidden: Array) -> dict[str, torch.Tensor | None]:
        """Return what hides later tokens of the target, and padding of the source."""
        if self._stack.has_own_masks:
            return {"encoder_attention_mask": torch.from_numpy(~hidden)[None].long() if hidden.any() else None}
        unseen = masks.painted(np.broadcast_to(hidden, (n_tokens, hidden.size)))
        return {
            "attention_mask": torch.from_numpy(masks.causal(n_tokens))[None, None],
            "encoder_attention_mask": torch.from_numpy(unseen)[None, None] if hidden.any() else None,
        }
