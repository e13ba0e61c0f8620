"""The layers of a model outside the table: the recorded tensors, and the verified parts of their structure.

Queries, keys, values, mask, scale and outputs are recorded from any model that uses transformers' attention interface.
Its projections and norms are guessed from common names and accepted only if they reproduce the model's own numbers on a
few tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy import ndarray as Array

from attention.core import masks
from attention.core.messages import message
from attention.core.trace import AttentionKind, LayerTrace, ModelInfo, Norm, Projections
from attention.models.recorder import AttentionCall, attend_plainly, note_added, note_entered, note_turns, recording
from attention.models.stack import Parts, Repeats, Shared, Unembedding, linear_of, norm_of, record, repeats_of
from attention.models.tensors import nearness, numbers

# Common names of the four projections, and of the norms of queries and keys.
_QUERY = ("q_proj", "query", "q_lin", "query_proj", "wq", "q")
_KEY = ("k_proj", "key", "k_lin", "key_proj", "wk", "k")
_VALUE = ("v_proj", "value", "v_lin", "value_proj", "wv", "v")
_OUTPUT = ("o_proj", "out_proj", "dense", "out_lin", "wo", "c_proj", "o")
_QUERY_NORM, _KEY_NORM = ("q_norm", "q_layernorm", "query_norm"), ("k_norm", "k_layernorm", "key_norm")
# Names of configuration keys with a factor of the logits, or their divisor.
_FACTOR = re.compile("logit|lm_head")
# The number of tokens in the trial run.
_N_TOKENS = 6


# Number of heads and width, for queries, keys and values.
_Shapes = tuple[tuple[int, ...], ...]


# Number i with number i + R/2, number 2i with number 2i + 1, or none.
_Pairs = Literal["halves", "adjacent", "none"]


@dataclass(frozen=True, slots=True)
class _Known:
    """The verified parts of a layer, and which numbers of queries and keys are rotated in pairs."""

    parts: Parts
    pairs: _Pairs


class OtherStack:
    """The layers of a loaded model of any architecture, with the interface of ``LayerStack``."""

    structure = None

    def __init__(self, model: Any, info: ModelInfo) -> None:
        """Run the model on a few tokens to verify its parts; raise ValueError if its attention is not the steps'."""
        self.module: Any = model
        self._is_causal = info.is_decoder
        self._n_layers, self._numbers = info.n_layers, info.attention_layers
        self._known: list[_Known | None] = [None] * len(self._numbers)
        calls, _ = self._trial_run()
        for call in calls:
            attend_plainly(call.module)
            _watch(model, call.module)
        with _noting_inputs(model, [call.module for call in calls]) as taken:
            calls, states = self._trial_run()
        self._shapes = self._check(calls)
        self._beside = _beside(model, calls[0].module)
        self._repeats: Repeats = next((repeats_of(call.turns) for call in calls if call.turns is not None), "halves")
        known = [_verified_parts(model, call, state) for call, state in zip(calls, states, strict=True)]
        verified = [each for each in known if each is not None]
        # A step is shown for all layers or for none.
        is_known = len(verified) == len(known)
        # Whether a module in each layer is given the layer's input plus its heads' output, both as they are.
        self._adds_as_is = is_known and all(map(_has_sum, taken, states, calls))
        if is_known:
            ran = [] if self._adds_as_is else zip(taken, states, calls, strict=True)
            norms = [_added_norm(model, *each) for each in ran]
            self._known = [*(map(_with_added_norm, verified, norms) if norms and all(norms) else verified)]

    def _trial_run(self) -> tuple[list[AttentionCall], list[Array]]:
        """Run the model on a few tokens; return its attention calls and the input of each layer with attention."""
        with recording() as calls:
            result = _run(self.module)
        states = result.hidden_states or ()
        _check_count(calls, states, len(self._numbers), self._n_layers)
        if len(calls) < self._n_layers and [_number_of(self.module, call) for call in calls] != [*self._numbers]:
            raise ValueError(message("other layers have attention than its config.json says"))
        return calls, [numbers(states[number][0]) for number in self._numbers]

    def _check(self, calls: Sequence[AttentionCall]) -> _Shapes:
        """Refuse a model whose attention or mask differs from the steps; return the shapes of its heads."""
        layers = _checked_records(calls, "self")
        n_keys = {layer.keys.shape[1] for layer in layers}
        if len(n_keys) > 1:
            raise ValueError(message("only some of its layers have attention sinks"))
        self.has_sinks = n_keys == {_N_TOKENS + 1}
        are_causal = [layer.mask is not None and masks.is_causal(layer.mask[..., :_N_TOKENS]) for layer in layers]
        if self._is_causal and not all(are_causal):
            raise ValueError(message("it is configured as a decoder, but tokens see later ones"))
        if not self._is_causal and all(are_causal):
            raise ValueError(message("it masks later tokens, but its config.json does not say so"))
        shapes = {tuple(each.shape[::2] for each in (layer.queries, layer.keys, layer.values)) for layer in layers}
        if len(shapes) > 1:
            raise ValueError(message("its layers differ in the number or width of their heads"))
        return next(iter(shapes))

    def measured(self, info: ModelInfo) -> ModelInfo:
        """Set the measured sizes of the heads, which the configuration need not state."""
        (n_heads, d_head), (n_key_value_heads, _), (_, d_value) = self._shapes
        return replace(
            info,
            n_heads=n_heads,
            n_key_value_heads=n_key_value_heads,
            d_head=d_head,
            d_value=None if d_value == d_head else d_value,
            beside=self._beside,
            adds_as_is=self._adds_as_is,
        )

    @torch.inference_mode()
    def take_head(self, model: Any) -> tuple[torch.nn.Module | None, Unembedding | None]:
        """Remove and return the norm after the last layer, and return the unembedding; None unless both are verified.

        The norm is the part that turns the last layer's output into the last hidden state. Both are verified if they
        reproduce the whole model's logits.
        """
        unembedding = model.get_output_embeddings() if self._is_causal and model is not self.module else None
        if unembedding is None:
            return None, None
        left: dict[str, torch.Tensor] = {}
        parts = dict(self.module.named_children())
        hooks = [part.register_forward_hook(partial(_note_left, left, name)) for name, part in parts.items()]
        theirs = _run(model)
        for hook in hooks:
            hook.remove()
        for name, output in left.items():
            if torch.equal(output, theirs.hidden_states[-1]):
                setattr(self.module, name, torch.nn.Identity())
                vectors = parts[name](_run(self.module).hidden_states[-1])
                for found in _unembeddings(unembedding, self.module.config):
                    if _is_near(found(vectors), theirs.logits):
                        return parts[name], found
                setattr(self.module, name, parts[name])
        return None, None

    def embeddings(self, ids: Sequence[int], segments: Sequence[int]) -> None:
        """Return None: the parts of the first layer's input are unknown."""

    def self_traces(self, calls: Sequence[AttentionCall], states: Sequence[Array]) -> tuple[LayerTrace, ...]:
        """Record the self-attention of each layer; ``states`` are the layers' inputs."""
        # Notes that were not verified are dropped.
        told = [
            call if known is not None else replace(call, turns=None, entered=None, added=None)
            for call, known in zip(calls, self._known, strict=True)
        ]
        shared = Shared(told, repeats=self._repeats)
        entering = [states[number] for number in self._numbers]
        layers = tuple(
            _layer(call, known, state, shared, self._kind(shared.mask(call)))
            for call, known, state in zip(told, self._known, entering, strict=True)
        )
        return spread(layers, self._numbers, self._n_layers)

    def _kind(self, mask: Array | None) -> AttentionKind:
        return "masked self" if self._is_causal or masks.is_causal(mask) else "self"


class OtherDecoder:
    """The layers of such a model's decoder, with the interface of ``LayerStack``: only the recorded tensors."""

    structure = None
    has_own_masks = True

    def __init__(self, decoder: Any, encoder: Any, n_layers: int) -> None:
        """Run both on a few tokens; raise ValueError if an attention is not the steps'."""
        self.module: Any = decoder
        for call in self._trial_run(encoder, n_layers):
            attend_plainly(call.module)
        calls = self._trial_run(encoder, n_layers)
        own, other = _checked_records(calls[0::2], "masked self"), _checked_records(calls[1::2], "cross")
        n_keys = [{layer.keys.shape[1] for layer in layers} for layers in (own, other)]
        if n_keys != [{_N_TOKENS - 1}, {_N_TOKENS}] or not all(masks.is_causal(layer.mask) for layer in own):
            raise ValueError(message("its decoder does not attend first to the target and then to the source"))

    def _trial_run(self, encoder: Any, n_layers: int) -> list[AttentionCall]:
        """Run both on a few tokens; return the decoder's attention calls."""
        ids = _trial_ids(self.module)
        with torch.inference_mode():
            memory = encoder(input_ids=ids).last_hidden_state
            with recording() as calls:
                # One token fewer, to tell the encoder's keys from the decoder's own.
                read = {"input_ids": ids[:, 1:], "encoder_hidden_states": memory}
                result = self.module(**read, output_hidden_states=True, use_cache=False)
        _check_count(calls, result.hidden_states or (), 2 * n_layers, n_layers)
        return calls

    def embeddings(self, ids: Sequence[int], segments: Sequence[int]) -> None:
        """Return None: the parts of the first layer's input are unknown."""

    def self_traces(self, calls: Sequence[AttentionCall], _states: Sequence[Array]) -> tuple[LayerTrace, ...]:
        """Record the self-attention of each layer."""
        return _recorded(calls, "masked self")

    def cross_traces(
        self, calls: Sequence[AttentionCall], _streams: Sequence[Array], _memory: Array
    ) -> tuple[LayerTrace, ...]:
        """Record the cross-attention of each layer."""
        return _recorded(calls, "cross")

    def streams_after_self(self, _calls: Sequence[AttentionCall], _states: Sequence[Array]) -> tuple[Array, ...]:
        """Return nothing: the stream between the two attentions is unknown."""
        return ()


def spread(layers: Sequence[LayerTrace], at: Sequence[int], n_layers: int, *, axis: int = 0) -> tuple[LayerTrace, ...]:
    """Return a record for each layer of a model whose layers ``at`` these numbers have attention.

    The others have no heads, which are the arrays' ``axis``.
    """
    found, first = dict(zip(at, layers, strict=True)), layers[0]
    none = (*(slice(None),) * axis, slice(0))
    parts = {name: getattr(first, name)[none] for name in ("queries", "keys", "values", "model_output")}
    without = LayerTrace(inputs=None, mask=None, scale=first.scale, kind=first.kind, **parts)
    return tuple(found.get(number, without) for number in range(n_layers))


def _number_of(model: Any, call: AttentionCall) -> int:
    """Return the number in the path of the layer that called attention; -1 if there is none."""
    path = _path_of(model, call.module)
    found = re.search(r"(?:^|\.)([0-9]+)\.", path)
    return -1 if found is None else int(found[1])


def without_head(model: Any) -> Any:
    """Return the part of a model that holds its layers, if its class does not name that part its base model."""
    if model.get_output_embeddings() is None:
        return model
    words = model.get_input_embeddings()
    return next((part for part in model.children() if words in part.modules()), model)


def _trial_ids(model: Any) -> torch.Tensor:
    return torch.arange(_N_TOKENS, device=model.device)[None] % model.config.vocab_size


@torch.inference_mode()
def _run(model: Any) -> Any:
    """Run a model on a few tokens."""
    return model(input_ids=_trial_ids(model), output_hidden_states=True)


def _note_left(left: dict[str, torch.Tensor], name: str, _module: Any, inputs: Any, output: Any) -> None:
    """Note a part's output by its name, unless it is the input (a forward hook): dropout changes nothing here."""
    if isinstance(output, torch.Tensor) and not (inputs and torch.equal(inputs[0], output)):
        left[name] = output


def _unembeddings(matrix: torch.nn.Module, config: Any) -> Iterator[Unembedding]:
    """Yield the unembedding without a factor, and with each factor that the configuration may mean."""
    said = [value for name, value in config.to_dict().items() if _FACTOR.search(name)]
    factors = [value for value in said if isinstance(value, int | float) and value]
    for factor in (1.0, *factors, *(1 / each for each in factors)):
        yield Unembedding(matrix, factor, getattr(config, "final_logit_softcapping", None))


def _is_near(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    atol = nearness(theirs.dtype) * float(theirs.abs().max())
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=0, atol=atol)


def _check_count(calls: Sequence[AttentionCall], states: Sequence[Any], n_calls: int, n_layers: int) -> None:
    if len(calls) != n_calls or len(states) != n_layers + 1:
        raise ValueError(
            message(
                "its {n_layers} layers called attention {count} times instead of {n_calls}, so it can't be recorded",
                n_layers=n_layers,
                count=len(calls),
                n_calls=n_calls,
            )
        )


def _checked_records(calls: Sequence[AttentionCall], kind: AttentionKind) -> tuple[LayerTrace, ...]:
    """Record calls, and refuse them if the steps do not reproduce the model's output."""
    layers = _recorded(calls, kind)
    near = nearness(calls[0].query.dtype)
    for layer in layers:
        # Written so that NaN fails.
        if not layer.check() <= near * float(np.abs(layer.model_output).max()):
            raise ValueError(message("its attention goes beyond the steps explained here"))
    return layers


def _recorded(calls: Sequence[AttentionCall], kind: AttentionKind) -> tuple[LayerTrace, ...]:
    told = [replace(call, turns=None, entered=None, added=None) for call in calls]
    shared = Shared(told)
    return tuple(record(call, Parts(), None, shared, kind) for call in told)


def _layer(call: AttentionCall, known: _Known | None, state: Array, shared: Shared, kind: AttentionKind) -> LayerTrace:
    if known is None or call.entered is None:
        return record(call, Parts(), None, shared, kind)
    inputs = state if known.parts.norm_parts is None else numbers(call.entered[0])
    layer = record(call, known.parts, inputs, shared, kind)
    if layer.rotary is None or known.pairs == "none":
        return replace(layer, rotary=None)
    return replace(layer, rotary=replace(layer.rotary, adjacent=known.pairs == "adjacent"))


def _watch(model: Any, module: torch.nn.Module) -> None:
    """Note a module's rotations, its projections' input, and its output projection's result."""
    module.register_forward_pre_hook(note_turns, with_kwargs=True)
    query, output = _named(module, _QUERY), _output_of(model, module)
    if query is not None and output is not None:
        query.register_forward_pre_hook(note_entered)
        output.register_forward_hook(note_added)


def _verified_parts(model: Any, call: AttentionCall, state: Array) -> _Known | None:
    """Return the parts that reproduce the model's queries, keys, values and output; None if none do."""
    maps = [_named(call.module, names) for names in (_QUERY, _KEY, _VALUE)]
    maps.append(_output_of(model, call.module))
    if any(each is None for each in maps) or call.entered is None:
        return None
    norm = _entering_norm(model, call, state)
    if norm is None:
        return None
    (W_Q, b_Q), (W_K, b_K), (W_V, b_V), (W_O, b_O) = map(linear_of, maps)
    parts = Parts(Projections(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O), norm_parts=norm[0])
    guesses = (_Known(each, pairs) for each in _with_norms(call.module, parts) for pairs in get_args(_Pairs))
    return next((known for known in guesses if _is_verified(call, known, state)), None)


def _with_norms(module: torch.nn.Module, parts: Parts) -> Iterator[Parts]:
    """Yield the parts with norms of queries and keys, if there are any with common names, and without."""
    try:
        of_queries, of_keys = (norm_of(_named(module, names)) for names in (_QUERY_NORM, _KEY_NORM))
        yield replace(parts, query_norm=of_queries, key_norm=of_keys)
    except ValueError:
        pass
    yield parts


def _is_verified(call: AttentionCall, known: _Known, state: Array) -> bool:
    """Return whether every projection of a layer reproduces the model's own numbers."""
    shared = Shared([call], repeats=repeats_of(call.turns))
    layer = _layer(call, known, state, shared, "self")
    try:
        found = layer.check_projections()
    except ValueError:
        return False
    return len(found) == len(("queries", "keys", "values", "added")) and all(
        each.relative <= nearness(call.query.dtype) for each in found.values()
    )


def _entering_norm(model: Any, call: AttentionCall, state: Array) -> tuple[Norm | None] | None:
    """Return a tuple of the norm before the projections (None if absent), or None if it is unknown."""
    assert call.entered is not None
    entered = numbers(call.entered[0])
    if entered.shape != state.shape:
        return None
    atol = nearness(call.entered.dtype) * float(np.abs(entered).max())
    if np.allclose(entered, state, rtol=0, atol=atol):
        return (None,)
    for norm in _norms_around(model, call.module):
        if np.allclose(norm(state), entered, rtol=0, atol=atol):
            return (norm,)
    return None


def _norms_around(model: Any, module: torch.nn.Module) -> Iterator[Norm]:
    """Yield the norms beside an attention module and in its layer."""
    around = _layer_around(model, module), _parent_of(model, module)
    for name, part in chain.from_iterable(each.named_children() for each in around):
        if "norm" not in name.lower() and "ln" not in name.lower():
            continue
        try:
            norm = norm_of(part)
        except (ValueError, RuntimeError):
            continue
        if norm is not None:
            yield norm


def _output_of(model: Any, module: torch.nn.Module) -> torch.nn.Module | None:
    """Return the output projection of an attention module: its own or, as in BERT, that of the part beside it."""
    beside = dict(_parent_of(model, module).named_children()).get("output")
    own = _named(module, _OUTPUT)
    return own if own is not None or beside is None else _named(beside, _OUTPUT)


def _beside(model: Any, module: torch.nn.Module) -> str:
    """Return the name of a state-space model in the same layer; "" if there is none."""
    return "Mamba" if "mamba" in dict(_parent_of(model, module).named_children()) else ""


def _layer_around(model: Any, module: torch.nn.Module) -> torch.nn.Module:
    """Return the numbered part of a model that contains a module; the model itself if there is none."""
    around = re.match(r".*\.[0-9]+(?=\.)", _path_of(model, module))
    layer: torch.nn.Module = model if around is None else model.get_submodule(around[0])
    return layer


@contextmanager
def _noting_inputs(model: Any, attentions: Sequence[torch.nn.Module]) -> Iterator[list[list[torch.Tensor]]]:
    """Note, for each attention module, the first input of every part of its layer."""
    taken: list[list[torch.Tensor]] = [[] for _ in attentions]
    hooks = [
        part.register_forward_pre_hook(partial(_note_taken, found))
        for attention, found in zip(attentions, taken, strict=True)
        for part in _layer_around(model, attention).modules()
    ]
    try:
        yield taken
    finally:
        for hook in hooks:
            hook.remove()


def _note_taken(found: list[torch.Tensor], _module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
    found += [each for each in inputs[:1] if isinstance(each, torch.Tensor)]


def _has_sum(found: Sequence[torch.Tensor], state: Array, call: AttentionCall, norm: Norm | None = None) -> bool:
    """Return whether a module of a layer is given its input plus its heads' output, which ``norm`` may normalise."""
    added = call.added
    if added is None:
        return False
    change = numbers(added[0])
    total = state + (change if norm is None else norm(change))
    atol = nearness(added.dtype) * float(np.abs(total).max())
    return any(each.shape == added.shape and np.allclose(numbers(each[0]), total, rtol=0, atol=atol) for each in found)


def _added_norm(model: Any, found: Sequence[torch.Tensor], state: Array, call: AttentionCall) -> Norm | None:
    """Return the norm of the heads' output before it is added to the layer's input; None if there is none."""
    return next((norm for norm in _norms_around(model, call.module) if _has_sum(found, state, call, norm)), None)


def _with_added_norm(known: _Known, norm: Norm | None) -> _Known:
    return replace(known, parts=replace(known.parts, output_norm=norm))


def _parent_of(model: Any, module: torch.nn.Module) -> torch.nn.Module:
    parent: torch.nn.Module = model.get_submodule(_path_of(model, module).rpartition(".")[0])
    return parent


def _path_of(model: Any, module: torch.nn.Module) -> str:
    return next(name for name, part in model.named_modules() if part is module)


def _named(module: torch.nn.Module, names: Sequence[str]) -> torch.nn.Module | None:
    """Return a module's part with one of these names, if it exists and has weights."""
    parts: Mapping[str, torch.nn.Module] = dict(module.named_children())
    found = next((parts[name] for name in names if name in parts), None)
    return None if found is None or getattr(found, "weight", None) is None else found
