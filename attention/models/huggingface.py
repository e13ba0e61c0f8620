"""Any transformers model as a model of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers
from numpy import ndarray as Array
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForSeq2SeqLM,
)

from attention.core import masks
from attention.core.ablation import Change, Output
from attention.core.given import printable
from attention.core.interventions import Intervention, Run, checked
from attention.core.masks import MaskName
from attention.core.messages import message
from attention.core.trace import Cut, Embeddings, ModelInfo, Token, Trace
from attention.models.altering import Intervening
from attention.models.architectures import architecture_of, read_config
from attention.models.base import Answer, Batch, Encoded, NextToken, Unmasked, check_batch, repr_of
from attention.models.encoder_decoder import TargetReader
from attention.models.generic_stack import OtherDecoder, OtherStack, spread, without_head
from attention.models.module_map import Architecture, Stack
from attention.models.one_page import Insides
from attention.models.own_attention import lead_through_recorder
from attention.models.picture import PictureReader
from attention.models.recorder import ATTENTION_NAME, altering, masking, recording
from attention.models.stack import LayerStack, Unembedding, batch_traces, layers_of, shared
from attention.models.tensors import numbers
from attention.models.tokens import TextReader
from attention.training.vocabulary import refusal

# The most numbers beyond those in the files and a pooler: computed tables, causal masks.
_SPARE_NUMBERS = 10**7

# The ends of transformers' names of models that predict the next token.
_HEADS = ("ForCausalLM", "LMHeadModel")

# The most tokens in one of many runs of a text: more would take more memory and no less time.
_MOST_AT_ONCE = 512

# While loading, transformers sets flags for the whole process: of two models loaded at once, one may lack some of its
# weights.
_LOADING = Lock()


@dataclass(frozen=True, slots=True)
class _Source:
    """The model's input: one or two texts as tokens."""

    text: str
    tokens: tuple[Token, ...]
    cut: Cut | None = None

    @property
    def ids(self) -> list[int]:
        return [token.token_id for token in self.tokens]

    @property
    def segments(self) -> list[int]:
        return [token.segment for token in self.tokens]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model that is recorded alone, and the reader of its texts; None if it reads pictures, or numbers."""

    architecture: Architecture
    model: Any
    text: TextReader | None


def _sink(position: int) -> Token:
    """Return the name of each head's sink, which is a key and no token."""
    return Token(message("sink"), "", None, position, -1, is_special=True)


class HuggingFaceModel:
    """A transformers model, read from a local folder in ``from_pretrained`` layout.

    An encoder–decoder's second text is the target that its decoder reads; without one, the model generates up to 64
    tokens greedily. The mask applies to the encoder: the decoder never sees later tokens, and cross-attention hides
    only padding.

    A Vision Transformer reads a picture written as text: see ``attention.core.pixels`` and ``PictureReader``.
    """

    def __init__(self, info: ModelInfo, source: Path | Loaded) -> None:
        """Take a model that is loaded, or load it from a folder: in float32, for inference only.

        Raises:
            ValueError: the architecture cannot be shown, the tokenizer cannot be loaded, or weights are missing.
        """
        self._info = info
        self._folder = source if isinstance(source, Path) else None
        loaded = _loaded(info, source) if isinstance(source, Path) else source
        self._architecture, model, self._text = loaded.architecture, loaded.model, loaded.text
        lead_through_recorder(model, self._architecture.own_attention)
        self._config = model.config
        # Some BERT models have only one segment.
        self._takes_segments = self._architecture.takes_segments and model.config.type_vocab_size > 1
        self._picture = PictureReader(model.config) if self._architecture.reads_pictures else None
        self._stack = self._first_stack(model.base_model)
        if isinstance(self._stack, OtherStack):
            self._info = self._stack.measured(info)
            self._final_norm, self._unembedding = self._stack.take_head(model)
        else:
            self._final_norm = self._stack.take_final_norm()
            self._unembedding = None if self._final_norm is None else self._unembedding_of(model, self._stack)
        # The classification head, if any, for the vector of [CLS].
        self._classifier: torch.nn.Module | None = None if self._picture is None else getattr(model, "classifier", None)
        self._target: TargetReader | None = None
        if self._text is not None and (decoder := self._second_stack(model.base_model)) is not None:
            self._target = TargetReader(model, decoder, self._text)

    def _first_stack(self, model: Any) -> LayerStack | OtherStack:
        if self._architecture.is_known:
            return LayerStack(model, self._architecture.encoder)
        whole = without_head(model) if self._architecture.decoder is None else model.get_encoder()
        return OtherStack(whole, self._info)

    def _second_stack(self, model: Any) -> LayerStack | OtherDecoder | None:
        if self._architecture.decoder is None:
            return None
        if self._architecture.is_known:
            return LayerStack(model, self._architecture.decoder)
        return OtherDecoder(model.get_decoder(), model.get_encoder(), self._info.n_decoder_layers)

    def _unembedding_of(self, model: Any, stack: LayerStack) -> Unembedding | None:
        found: torch.nn.Module | None = model.get_output_embeddings()
        # A model with another head, such as a classifier, does not predict tokens, whatever its configuration ties.
        if found is None and model.base_model is model and self._config.tie_word_embeddings:
            table = stack.word_table
            found = torch.nn.Linear(table.shape[1], table.shape[0], bias=False, device="meta")
            found.weight = torch.nn.Parameter(table, requires_grad=False)
        cap = getattr(self._config, "final_logit_softcapping", None)
        return None if found is None else Unembedding(found, cap=cap)

    @property
    def info(self) -> ModelInfo:
        """The model's description."""
        return self._info

    @property
    def reader(self) -> TextReader | None:
        """The reader of its texts; None if it has none."""
        return self._text

    def __repr__(self) -> str:
        """Return the model's ID and sizes."""
        return repr_of(self._info)

    @torch.inference_mode()
    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """Run the model once on the text and record it; see ``Model.trace``."""
        source, pair = self._sources(text, pair, masks.n_padding(mask))
        return self._traced(source, pair, self._mask(mask, len(source.tokens)))

    def as_chat(self, text: str) -> str:
        """See ``Model.as_chat``."""
        if self._text is None:
            raise ValueError(message("{model} has no chat template.", model=self._info.name))
        return self._text.as_chat(printable(text))

    @torch.inference_mode()
    def trace_tokens(self, tokens: tuple[Token, ...]) -> Trace:
        """Run the model once on tokens as they are, and record it.

        Raises:
            ValueError: there are more than the model takes, or it is an encoder–decoder.
        """
        if self._target is not None:
            raise ValueError(message("{name} reads a text and writes one: pass texts.", name=self._info.name))
        if len(tokens) > self._info.max_tokens:
            raise ValueError(
                message("{name} takes {limit} tokens at most.", name=self._info.name, limit=self._info.max_tokens)
            )
        text = " ".join(token.typed for token in tokens if token.typed)
        return self._traced(_Source(text, tokens), None, self._mask(None, len(tokens)))

    @torch.inference_mode()
    def run(self, text: str, interventions: Iterable[Intervention] | Intervention, pair: str | None = None) -> Run:
        """Run the model once with interventions; see ``Model.run``."""
        source, pair = self._sources(text, pair, 0)
        found = checked(interventions, self._info.n_layers, self._info.n_heads, len(source.tokens))
        self._check_attention({each.layer for each in found})
        trace = self._traced(source, pair, self._mask(None, len(source.tokens)), found)
        return Run(trace, trace.logits)

    def _sources(self, text: str, pair: str | None, n_padding: int) -> tuple[_Source, str | None]:
        """Return the text of the only stack or the encoder, and the second text."""
        pair = None if pair is None else printable(pair)
        pair = pair if pair and pair.strip() else None
        if pair is not None and self._target is not None and not self._info.reading.takes_pair:
            raise ValueError(message("{name} writes its own translation.", name=self._info.name))
        return self._read(text, None if self._target is not None else pair, n_padding), pair

    def _traced(
        self, source: _Source, pair: str | None, mask: Array | None, interventions: Sequence[Intervention] = ()
    ) -> Trace:
        """Run the model once and record it."""
        change = Intervening([interventions], self._info.attention_layers)
        with recording() as calls, altering(change.after, change.before) if interventions else nullcontext():
            result = self._run([source], mask, is_whole=True)
        states = tuple(numbers(state[0]) for state in result.hidden_states)
        trace = Trace(
            text=source.text,
            tokens=source.tokens,
            layers=self._stack.self_traces(calls, states[:-1]),
            info=self._info,
            embeddings=self._embeddings(source),
            hidden_states=states,
            cut=source.cut,
            structure=self._stack.structure,
            memory=(*source.tokens, _sink(len(source.tokens))) if self._stack.has_sinks else None,
            predict=None if self._unembedding is None else self._predict,
        )
        return trace if self._target is None else self._target.add_to(trace, result, pair)

    @torch.inference_mode()
    def _predict(self, vectors: Array) -> Array:
        """Return the logits of the last layer's output."""
        assert self._final_norm is not None
        assert self._unembedding is not None
        return numbers(self._unembedding(self._final_norm(self._given(vectors))))

    def _given(self, array: Array) -> torch.Tensor:
        """Return numbers as the model takes them: of its type, and on its device."""
        return torch.from_numpy(array.copy()).to(self._stack.module.device, self._stack.module.dtype)

    def _integers(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        return torch.tensor(rows, dtype=torch.long, device=self._stack.module.device)

    def _read(self, text: str, pair: str | None, n_padding: int) -> _Source:
        """Tokenise one or two texts as they are, the first of which must not be empty."""
        text = printable(text)
        if pair is not None and not self._architecture.takes_pairs:
            raise ValueError(message("{name} takes one text, not two.", name=self._info.name))
        if self._picture is not None:
            return self._read_picture(text, n_padding)
        if self._text is None:
            raise ValueError(message("A text needs the model's tokenizer: pass it, or input_ids and tokens."))
        if self._info.reading.is_closed:
            self._check_words(text)
        encoding, cut = self._text.encode(text, pair, self._info.max_tokens - n_padding)
        if all(word is None for word in encoding.word_ids):
            raise ValueError(message("There is no visible text. Type at least one word."))
        tokens = self._text.tokens(encoding, text, pair)
        return _Source(text, (*tokens, *self._text.padding(len(tokens), n_padding)), cut)

    def _check_words(self, text: str) -> None:
        if self._folder is not None and (told := refusal(self._info.name, text, self._folder)):
            raise ValueError(told)

    def _read_picture(self, text: str, n_padding: int) -> _Source:
        assert self._picture is not None
        if n_padding:
            raise ValueError(message("{name} reads pictures of one size and needs no padding.", name=self._info.name))
        self._picture.pixels(text)
        return _Source(text, self._picture.tokens())

    def _run(self, sources: Sequence[_Source], mask: Array | None, *, is_whole: bool, is_alone: bool = False) -> Any:
        """Run the encoder, or the only stack; with ``is_whole``, keep the hidden states.

        A model that makes its own masks adds this one to them, unless it ``is_alone``.
        """
        additive = None if mask is None else self._given(mask)[None, None]
        if self._architecture.encoder.has_own_masks:
            with masking(additive, is_alone=is_alone):
                return self._run_masked(sources, None, is_whole=is_whole)
        return self._run_masked(sources, additive, is_whole=is_whole)

    def _run_masked(self, sources: Sequence[_Source], mask: torch.Tensor | None, *, is_whole: bool) -> Any:
        inputs: dict[str, Any] = {"attention_mask": mask, "output_hidden_states": is_whole}
        if self._picture is not None:
            pictures = torch.cat([self._picture.pixels(source.text) for source in sources])
            return self._stack.module(pixel_values=pictures, **inputs)
        if self._takes_segments:
            inputs["token_type_ids"] = self._integers([source.segments for source in sources])
        if self._architecture.is_decoder:
            inputs["use_cache"] = False
        return self._stack.module(input_ids=self._integers([source.ids for source in sources]), **inputs)

    def _mask(self, mask: MaskName | Array | None, n_tokens: int) -> Array | None:
        additive = masks.build(mask, n_tokens)
        if not self._architecture.is_decoder or self._architecture.encoder.has_own_masks:
            return additive
        causal = masks.causal(n_tokens)
        return causal if additive is None else causal + additive

    def _embeddings(self, source: _Source) -> Embeddings | None:
        if isinstance(self._stack, LayerStack) and self._picture is not None:
            return self._stack.picture_embeddings(self._picture.pixels(source.text))
        segments = source.segments if self._takes_segments else [0] * len(source.tokens)
        return self._stack.embeddings(source.ids, segments)

    @torch.inference_mode()
    def next_token(self, trace: Trace) -> NextToken | None:
        """See ``Model.next_token``."""
        if self._final_norm is None or self._unembedding is None:
            return None
        last = max(token.position for token in trace.tokens if not token.is_padding)
        stream = self._given(np.stack([state[last] for state in trace.hidden_states]))
        logits = self._unembedding(self._final_norm(stream))
        return NextToken(numbers(logits), *self._vocabulary)

    @torch.inference_mode()
    def unmasked(self, text: str) -> Unmasked | None:
        """See ``Model.unmasked``."""
        # Layers without attention do not see later tokens, with or without a mask.
        if self._unembedding is None or self._info.layer_kinds:
            return None
        source = self._read(text, None, 0)
        n_tokens = len(source.tokens)
        runs = (self._mask(None, n_tokens), False), (masks.none(n_tokens), True)
        found = [self._predicted(source, mask, is_alone=is_alone) for mask, is_alone in runs]
        losses, logits = (numbers(torch.stack(each)) for each in zip(*found, strict=True))
        return Unmasked(losses, logits, self._vocabulary[0])

    def _predicted(self, source: _Source, mask: Array | None, *, is_alone: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss at each token after the first, and the logits of the next token."""
        assert self._final_norm is not None
        assert self._unembedding is not None
        result = self._run([source], mask, is_whole=False, is_alone=is_alone)
        logits = self._unembedding(self._final_norm(result.last_hidden_state[0]))
        wanted = self._integers([source.ids[1:]])[0]
        return torch.nn.functional.cross_entropy(logits[:-1], wanted, reduction="none"), logits[-1].clone()

    @torch.inference_mode()
    def outputs(self, text: str, pair: str | None, changes: Sequence[Change]) -> Iterator[Output]:
        """See ``Model.outputs``; several changes run in one batch."""
        source = self._read(text, None if self._target is not None else pair, 0)
        n_tokens = len(source.tokens)
        for each in changes:
            each.check(self._info.n_layers, self._info.n_heads, n_tokens)
            self._check_attention({one.layer for one in each.interventions})
        at_once = max(1, _MOST_AT_ONCE // n_tokens)
        for first in range(0, len(changes), at_once):
            some = changes[first : first + at_once]
            change = Intervening([each.interventions for each in some], self._info.attention_layers)
            with altering(change.after, change.before):
                result = self._run(
                    [self._occluded(source, each) for each in some], self._mask(None, n_tokens), is_whole=False
                )
            for vectors in result.last_hidden_state:
                yield self._output(vectors)

    def insides(self) -> Insides | None:
        """See ``Model.insides``."""
        if self._target is not None or isinstance(self._stack, OtherStack):
            return None
        arrays = self._stack.arrays()
        if self._final_norm is not None:
            arrays |= {f"norm.{name}": shared(each) for name, each in self._final_norm.named_parameters()}
        return Insides(str(self._config.model_type), arrays, self._config.to_dict())

    def _occluded(self, source: _Source, change: Change) -> _Source:
        if change.without is None:
            return source
        if self._picture is not None:
            return replace(source, text=self._picture.without(source.text, change.without))
        assert self._text is not None
        blank = replace(source.tokens[change.without], token_id=self._text.blank_id)
        return replace(
            source, tokens=tuple(blank if each.position == blank.position else each for each in source.tokens)
        )

    def _output(self, vectors: torch.Tensor) -> Output:
        if self._classifier is not None:
            return Output(numbers(vectors), numbers(self._classifier(vectors[0])), self._classes)
        if self._final_norm is None:
            return Output(numbers(vectors))
        vectors = self._final_norm(vectors)
        if self._unembedding is None:
            return Output(numbers(vectors))
        return Output(numbers(vectors), numbers(self._unembedding(vectors[-1])), self._vocabulary[0])

    @property
    def _classes(self) -> tuple[str, ...]:
        labels = self._config.id2label
        return tuple(str(labels[number]) for number in sorted(labels))

    @torch.inference_mode()
    def answer(self, trace: Trace) -> Answer | None:
        """See ``Model.answer``."""
        if self._classifier is None:
            return None
        whole = self._stack.module.layernorm(torch.from_numpy(trace.hidden_states[-1][0].copy()))
        return Answer(self._classes, self._classifier(whole).numpy())

    @cached_property
    def _vocabulary(self) -> tuple[tuple[str, ...], tuple[str | None, ...]]:
        """Return each token's label and text."""
        n_known = self._config.vocab_size
        return (
            (tuple(map(str, range(n_known))), (None,) * n_known)
            if self._text is None
            else self._text.vocabulary(n_known)
        )

    def encode(self, text: str) -> Encoded:
        """See ``Model.encode``."""
        source = self._read(text, None, 0)
        return Encoded(source.text, source.tokens, source.cut)

    @torch.inference_mode()
    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """See ``Model.trace_batch``; only the encoder of an encoder–decoder is run."""
        check_batch(texts)
        sources = [_Source(text.text, text.tokens) for text in texts]
        with recording(is_whole=False) as calls:
            self._run(sources, self._mask(None, len(texts[0].tokens)), is_whole=False)
        layers = spread(batch_traces(calls), self._info.attention_layers, self._info.n_layers, axis=1)
        return Batch(tuple(texts), layers, self._info)

    def _check_attention(self, layers: Iterable[int]) -> None:
        """Raise ValueError if a layer has no attention."""
        for layer in set(layers).difference(self._info.attention_layers):
            raise ValueError(f"layer {layer} has no attention: {self._info.layer_kinds[layer]}")


def _loaded(info: ModelInfo, folder: Path) -> Loaded:
    """Load the tokenizer and the weights of a folder."""
    architecture = architecture_of(read_config(folder))
    config = _config_of(folder, architecture)
    text = None if architecture.reads_pictures else TextReader(info.name, folder, config.vocab_size)
    return Loaded(architecture, _load(_kind(folder, config, architecture), folder, config, architecture), text)


def _kind(folder: Path, config: Any, architecture: Architecture) -> Any:
    """Return the transformers class that has all parts of the model that are shown."""
    if architecture.decoder is not None:
        return AutoModelForSeq2SeqLM
    names = read_config(folder).get("architectures") or ()
    if not architecture.is_known:
        # With the language-model head, if this class has one.
        with_head = (getattr(transformers, name, None) for name in names if name.endswith(_HEADS))
        return next((kind for kind in with_head if getattr(kind, "config_class", None) is type(config)), AutoModel)
    # With such a head, if that is a matrix of its own and not the table of the words.
    if architecture.is_decoder and not getattr(config, "tie_word_embeddings", True):
        kinds = (*_HEADS, *(["ForConditionalGeneration"] if architecture.text_part else []))
        return AutoModelForCausalLM if any(name.endswith(kind) for name in names for kind in kinds) else AutoModel
    is_classifier = architecture.reads_pictures and any("ImageClassification" in name for name in names)
    return AutoModelForImageClassification if is_classifier else AutoModel


def check_size(info: ModelInfo, folder: Path) -> None:
    """Refuse a model whose configuration, as transformers reads it, does not match its weights.

    Only a skeleton is built: its tensors have shapes, but take no memory.

    Raises:
        ValueError: they do not match; the message says how.
    """
    architecture = architecture_of(read_config(folder))
    config = _config_of(folder, architecture)
    # Some encoder–decoders describe the two separately.
    layers = getattr(config, "encoder", config)
    with torch.device("meta"):
        skeleton = AutoModel.from_config(config, trust_remote_code=False)
    for name, size, found in (
        *_sizes_of_layers(layers, info, is_known=architecture.is_known),
        (message("layers"), info.n_layers, _n_layers(skeleton, architecture, layers)),
        (message("layers"), info.n_decoder_layers, _n_decoder_layers(skeleton, architecture, info)),
    ):
        if found != size:
            raise ValueError(
                message(
                    "its config.json gives both {one} and {other} {name}",
                    name=name,
                    one=f"{size:,}",
                    other=f"{found:,}",
                )
            )
    n_asked = sum(tensor.numel() for tensor in (*skeleton.parameters(), *skeleton.buffers()))
    if n_asked > info.n_parameters + info.d_model * (info.d_model + 1) + _SPARE_NUMBERS:
        raise ValueError(
            message(
                "its config.json asks for {n_asked} numbers, but its weights have {n_there}",
                n_asked=f"{n_asked:,}",
                n_there=f"{info.n_parameters:,}",
            )
        )


def _sizes_of_layers(config: Any, info: ModelInfo, *, is_known: bool) -> tuple[tuple[str, int, int], ...]:
    """Return name, described value and transformers' value of each size."""
    try:
        head_width, n_key_value_heads = (
            getattr(config, name, None) or size
            for name, size in (("head_dim", info.d_head), ("num_key_value_heads", info.n_key_value_heads))
        )
    except RuntimeError:
        # transformers raises this for a size that varies between layers.
        raise ValueError(message("its layers differ in the number or width of their heads")) from None
    return (
        (message("numbers in a vector"), info.d_model, config.hidden_size),
        (message("heads"), info.n_heads, config.num_attention_heads),
        (message("key/value heads"), info.n_key_value_heads, n_key_value_heads),
        # In models outside the table, the heads are measured when they run.
        *([(message("numbers in a head"), info.d_head, head_width)] if is_known else []),
    )


def _n_layers(model: Any, architecture: Architecture, config: Any) -> int:
    if not architecture.is_known:
        count: int = config.num_hidden_layers
        return count
    return _n_layers_of(model, architecture.encoder)


def _n_decoder_layers(model: Any, architecture: Architecture, info: ModelInfo) -> int:
    # In decoders outside the table, the layers are counted when they run.
    return _n_layers_of(model, architecture.decoder) if architecture.is_known else info.n_decoder_layers


def _n_layers_of(model: Any, stack: Stack | None) -> int:
    if stack is None:
        return 0
    return len(layers_of(model if stack.root is None else getattr(model, stack.root), stack))


def _config_of(folder: Path, architecture: Architecture) -> Any:
    """Return transformers' configuration of the part that is loaded."""
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if architecture.text_part is None:
        return config
    own = config.get_text_config()
    # The whole model's setting counts.
    if hasattr(config, "tie_word_embeddings"):
        own.tie_word_embeddings = config.tie_word_embeddings
    return own


def _load(kind: Any, folder: Path, config: Any, architecture: Architecture) -> Any:
    """Load a model, and refuse missing weights: transformers would fill them in at random."""
    part = architecture.text_part
    with _LOADING, _quietly():
        model, found = kind.from_pretrained(
            folder,
            config=config,
            key_mapping=None if part is None else {part.weights: ""},
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            attn_implementation=ATTENTION_NAME,
            dtype=torch.float32,
            output_loading_info=True,
        )
    # The pooler comes after the last layer and is not shown; computed tables of waves are often not saved.
    missing = sorted(
        name for name in found["missing_keys"] if not name.startswith("pooler.") and not _is_computed(model, name)
    )
    if missing:
        raise ValueError(
            message(
                "Weights are missing ({count}, such as {name}). Get the files again or choose another model.",
                count=len(missing),
                name=missing[0],
            )
        )
    return model.eval()


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence transformers' progress bars and warnings about unused task heads inside the block."""
    logging = transformers.utils.logging
    verbosity, has_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bar:
            logging.enable_progress_bar()


def _is_computed(model: Any, name: str) -> bool:
    """Return whether transformers computes these numbers by a formula, as for Pegasus's positions."""
    return hasattr(model.get_submodule(name.rpartition(".")[0]), "create_weight")
