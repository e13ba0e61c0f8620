"""One stack of a model's layers: its parts, and the records of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import torch
from numpy import ndarray as Array
from transformers import Conv1D

from attention.core import masks
from attention.core.messages import message
from attention.core.positions import Rotary, sinusoidal
from attention.core.structure import Branch, Structure, Sublayer
from attention.core.trace import (
    AttentionKind,
    Embeddings,
    LayerTrace,
    Lengths,
    Linear,
    Norm,
    PositionTable,
    Projections,
)
from attention.models import module_map
from attention.models.recorder import AttentionCall, note_added, note_lengths, note_turns
from attention.models.tensors import as_in, hidden_lowest, nearness, numbers

# The number of positions that identify a sinusoidal table: no learned one is that close.
_N_COMPARED = 64


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one attention module that go into its record, and those that its output passes through."""

    projections: Projections | None = None
    norm: torch.nn.Module | None = None
    norm_parts: Norm | None = None
    norm_after: torch.nn.Module | None = None
    query_norm: Norm | None = None
    key_norm: Norm | None = None
    output_norm: Norm | None = None
    # The factor of queries, in models that scale queries rather than scores.
    query_scale: float = 1.0

    def inputs(self, stream: Array) -> Array:
        """Return the projections' input, rerunning the norm, whose output was not recorded."""
        return stream if self.norm is None else numbers(_applied(self.norm, stream))

    def after(self, stream: Array, call: AttentionCall) -> Array:
        """Return the residual stream after this attention."""
        assert call.added is not None
        after = as_in(stream, call.added) + call.added[0]
        return numbers(after if self.norm_after is None else self.norm_after(after))


def _applied(module: torch.nn.Module, vectors: Array) -> torch.Tensor:
    """Apply a module to vectors, in the type and on the device of its own numbers."""
    weight = next(module.parameters(), torch.empty(0))
    found: torch.Tensor = module(as_in(vectors, weight))
    return found


@dataclass(frozen=True, slots=True)
class Unembedding:
    """What turns vectors after the final norm into logits: a matrix, a factor, and a soft cap (None: absent)."""

    matrix: torch.nn.Module
    factor: float = 1.0
    cap: float | None = None

    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the logits of vectors."""
        logits: torch.Tensor = self.factor * self.matrix(vectors)
        return logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)


class LayerStack:
    """A stack of layers of a loaded model."""

    has_sinks = False

    def __init__(self, model: Any, names: module_map.Stack) -> None:
        self.module: Any = model if names.root is None else getattr(model, names.root)
        self._names = names
        self.has_own_masks = names.has_own_masks
        layers = layers_of(self.module, names)
        # Layers that share weights are the same modules.
        distinct = {id(layer): layer for layer in layers}
        n_heads = self.module.config.num_attention_heads
        attentions = {key: _attention(layer, names, names.attention, n_heads) for key, layer in distinct.items()}
        self._attentions = [attentions[id(layer)] for layer in layers]
        self._crosses = (
            [] if names.cross is None else [_attention(layer, names, names.cross, n_heads) for layer in layers]
        )
        self._norm = None if names.norm is None else norm_of(attrgetter(names.norm)(self.module))
        projection = _part(self.module, names.projection)
        self._projection = None if projection is None else Linear(*linear_of(projection))
        self.structure = None if names.is_parallel else _structure(self.module, names)
        for layer in distinct.values():
            _watch(layer, names)

    def take_final_norm(self) -> torch.nn.Module | None:
        """Remove and return the norm after the last layer, so that the last hidden state is that layer's output."""
        name = self._names.final_norm
        if name is None:
            return None
        norm: torch.nn.Module = getattr(self.module, name) or torch.nn.Identity()
        setattr(self.module, name, torch.nn.Identity())
        last = self._names.last_projection
        if last is None or getattr(self.module, last) is None:
            return norm
        # It follows the norm; the layers' output keeps its width.
        both = torch.nn.Sequential(norm, getattr(self.module, last))
        setattr(self.module, last, None)
        return both

    def arrays(self) -> dict[str, Array]:
        """Return all weights by their names in the files, as read-only views of the model's memory."""
        return {name: shared(parameter) for name, parameter in self.module.named_parameters()}

    @property
    def word_table(self) -> torch.Tensor:
        """The embedding of every token of the vocabulary."""
        return attrgetter(self._names.words)(self.module).weight

    def embeddings(self, ids: Sequence[int], segments: Sequence[int]) -> Embeddings:
        """Return the parts that are summed for these tokens."""
        words = attrgetter(self._names.words)(self.module)(torch.tensor(ids, device=self.module.device))
        norm = _part(self.module, self._names.word_norm)
        # Marian multiplies the word part by √d_model after the lookup; BART's table does so itself. transformers does
        # not multiply normalised word vectors.
        words = words * getattr(self.module, "embed_scale", 1.0) if norm is None else norm(words)
        widened = _part(self.module, self._names.word_projection)
        words = words if widened is None else widened(words)
        table = None if self._names.segments is None else attrgetter(self._names.segments)(self.module).weight
        return Embeddings(
            words=numbers(words),
            positions=self._position_rows(ids),
            segments=None if table is None else _rows(table, segments),
            norm=self._norm,
            table=self._position_table(),
            projection=self._projection,
        )

    def picture_embeddings(self, pixels: torch.Tensor) -> Embeddings:
        """Return the parts that are summed for a picture: a vector for [CLS], then one for each patch."""
        parts = self.module.embeddings
        patches = parts.patch_embeddings(pixels)[0]
        words = torch.cat([parts.cls_token[0], patches])
        positions = shared(parts.position_embeddings)[0]
        return Embeddings(words=numbers(words), positions=positions, table=_table(positions))

    def _position_rows(self, ids: Sequence[int]) -> Array | None:
        if self._names.positions is None:
            return None
        table = attrgetter(self._names.positions)(self.module)
        rows = _rows_of(table)
        if self._names.has_padding_position:
            is_text = (torch.tensor(ids, device=rows.device) != table.padding_idx).long()
            return numbers(rows[is_text.cumsum(0) * is_text + table.padding_idx])
        first = self._names.first_position
        return numbers(rows[first : first + len(ids)])

    def _position_table(self) -> PositionTable | None:
        if self._names.positions is None:
            return None
        table = attrgetter(self._names.positions)(self.module)
        first = table.padding_idx + 1 if self._names.has_padding_position else self._names.first_position
        rows = _rows_of(table)
        found = _table(shared(rows)[first:])
        # A table that is not a parameter was computed by some formula.
        return found if isinstance(rows, torch.nn.Parameter) else replace(found, is_learned=False)

    def self_traces(self, calls: Sequence[AttentionCall], states: Sequence[Array]) -> tuple[LayerTrace, ...]:
        """Record the self-attention of each layer; ``states`` are the layers' inputs."""
        shared = Shared(calls)
        return tuple(
            record(call, part, part.inputs(state), shared, self._kind(shared.mask(call)))
            for call, part, state in zip(calls, self._attentions, states, strict=True)
        )

    def _kind(self, mask: Array | None) -> AttentionKind:
        return "masked self" if self._names.is_causal or masks.is_causal(mask) else "self"

    def cross_traces(
        self, calls: Sequence[AttentionCall], streams: Sequence[Array], memory: Array
    ) -> tuple[LayerTrace, ...]:
        """Record the cross-attention of each layer to the encoder's output; ``streams`` are its inputs."""
        shared = Shared(calls)
        return tuple(
            record(call, part, part.inputs(stream), shared, "cross", key_inputs=memory)
            for call, part, stream in zip(calls, self._crosses, streams, strict=True)
        )

    def streams_after_self(self, calls: Sequence[AttentionCall], states: Sequence[Array]) -> tuple[Array, ...]:
        """Return the residual stream between the self-attention and cross-attention of each layer."""
        return tuple(part.after(state, call) for call, part, state in zip(calls, self._attentions, states, strict=True))


# Most models have each angle twice, once for each number of a pair: in two equal halves, or side by side (Cohere).
# In gpt-oss, each is there once.
Repeats = Literal["halves", "adjacent", "none"]


class Shared:
    """The masks, biases and rotations of several calls, each stored once even if layers share it."""

    def __init__(self, calls: Sequence[AttentionCall], *, repeats: Repeats = "halves") -> None:
        self._masks = {_address(call.mask): _recorded_mask(call.mask) for call in calls}
        self._biases = {
            _address(call.position_bias): _recorded_bias(call.position_bias, call.scaling) for call in calls
        }
        self._turns = {_address(call.turns and call.turns[0]): recorded_turns(call.turns, repeats) for call in calls}

    def mask(self, call: AttentionCall) -> Array | None:
        """Return the mask of a call; None if it hides nothing."""
        return self._masks[_address(call.mask)]

    def bias(self, call: AttentionCall) -> Array | None:
        """Return a call's bias before scaling, or None."""
        return self._biases[_address(call.position_bias)]

    def turns(self, call: AttentionCall) -> Rotary | None:
        """Return the rotations given to a call, or None."""
        return self._turns[_address(call.turns and call.turns[0])]


def _address(tensor: torch.Tensor | None) -> int:
    """Return a tensor's memory address, which its views share; 0 for None."""
    return 0 if tensor is None else tensor.data_ptr()


def recorded_turns(turns: tuple[torch.Tensor, torch.Tensor] | None, repeats: Repeats = "halves") -> Rotary | None:
    """Return the rotations of queries and keys that a module was given."""
    if turns is None:
        return None
    width = turns[0].shape[-1]
    kept = {"halves": slice(width // 2), "adjacent": slice(0, width, 2), "none": slice(width)}[repeats]
    cosines, sines = (numbers(each[0, :, kept].clone()) for each in turns)
    return Rotary(cosines, sines)


def repeats_of(turns: tuple[torch.Tensor, torch.Tensor] | None) -> Repeats:
    """Return how cosines and sines of several positions repeat each angle."""
    if turns is None:
        return "halves"
    first, second = turns[1].tensor_split(2, dim=-1)
    if torch.equal(first, second):
        return "halves"
    return "adjacent" if torch.equal(turns[1][..., ::2], turns[1][..., 1::2]) else "none"


def record(
    call: AttentionCall,
    part: Parts,
    inputs: Array | None,
    shared: Shared,
    kind: AttentionKind,
    *,
    key_inputs: Array | None = None,
) -> LayerTrace:
    """Make the record of an attention call, with the known parts of its module."""
    return LayerTrace(
        inputs=inputs,
        queries=numbers(call.query[0]) if part.query_scale == 1 else numbers(call.query[0]) / part.query_scale,
        keys=numbers(call.key[0]),
        values=numbers(call.value[0]),
        mask=shared.mask(call),
        scale=float(call.scaling) * part.query_scale,
        # SDPA's forward returns (batch, queries, heads, width).
        model_output=numbers(call.output[0].transpose(0, 1)),
        kind=kind,
        projections=part.projections,
        rotary=shared.turns(call),
        norm=part.norm_parts,
        key_inputs=key_inputs,
        bias=_for_each_query(shared.bias(call), call),
        added=None if call.added is None else numbers(call.added[0]),
        lengths=_lengths(call),
        query_norm=part.query_norm,
        key_norm=part.key_norm,
        softcap=call.softcap,
        added_norm=part.output_norm,
    )


def _for_each_query(bias: Array | None, call: AttentionCall) -> Array | None:
    """Return a bias with a row for each query: all have the same sink."""
    if bias is None or bias.shape[1] == call.query.shape[2]:
        return bias
    return np.broadcast_to(bias, (len(bias), call.query.shape[2], bias.shape[2]))


def _lengths(call: AttentionCall) -> Lengths | None:
    if not call.lengths:
        return None
    # Some feed-forward networks get all texts of a batch, here one, as one list of vectors.
    return Lengths(**{name: numbers(lengths.flatten()) for name, lengths in call.lengths.items()})


def batch_traces(calls: Sequence[AttentionCall]) -> tuple[LayerTrace, ...]:
    """Record each layer of a run on several texts, the first axis of every array."""
    biases = {_address(call.position_bias): _recorded_bias(call.position_bias, call.scaling) for call in calls}
    return tuple(_batch_trace(call, biases[_address(call.position_bias)]) for call in calls)


def layer_of_call(call: AttentionCall, index: int) -> LayerTrace:
    """Record the layer of one call for one text of a batch, with neither inputs nor projections."""
    mask, bias = (
        None if each is None else each[index if len(each) > 1 else 0] for each in (call.mask, call.position_bias)
    )
    return LayerTrace(
        inputs=None,
        queries=numbers(call.query[index]),
        keys=numbers(call.key[index]),
        values=numbers(call.value[index]),
        mask=None if mask is None else hidden_lowest(mask),
        scale=float(call.scaling),
        model_output=numbers(call.output[index].transpose(0, 1)),
        bias=None if bias is None else _before_scaling(numbers(bias), call.scaling),
        softcap=call.softcap,
    )


def _batch_trace(call: AttentionCall, bias: Array | None) -> LayerTrace:
    return LayerTrace(
        inputs=None,
        queries=numbers(call.query),
        keys=numbers(call.key),
        values=numbers(call.value),
        mask=_batch_mask(call.mask),
        scale=float(call.scaling),
        model_output=numbers(call.output.transpose(1, 2)),
        bias=bias,
        softcap=call.softcap,
    )


def _batch_mask(mask: torch.Tensor | None) -> Array | None:
    """Return a call's mask, once if all heads of all texts share it; None if it hides nothing."""
    if mask is None or not mask.any():
        return None
    hidden = hidden_lowest(mask)
    return hidden[0, 0] if hidden.shape[:2] == (1, 1) else hidden


def _recorded_mask(mask: torch.Tensor | None) -> Array | None:
    """Return a call's mask without the batch axis, and without the head axis if all heads share it."""
    if mask is None:
        return None
    array = hidden_lowest(mask[0])
    return array[0] if array.shape[0] == 1 else array


def _recorded_bias(bias: torch.Tensor | None, scaling: float) -> Array | None:
    """Return a call's bias without the batch axis; None if it is 0, as in T5's cross-attention."""
    return None if bias is None or not bias.any() else _before_scaling(numbers(bias[0]), scaling)


def _before_scaling(bias: Array, scaling: float) -> Array:
    """Convert a bias added after scaling to one added before."""
    return bias if scaling == 1 else bias / np.float32(scaling)


def _rows_of(table: Any) -> torch.Tensor:
    """Return the vectors of a position table; M2M-100 computes them and names them differently."""
    rows: torch.Tensor = table.weights if hasattr(table, "weights") else table.weight
    return rows


def _rows(table: torch.Tensor, indices: Sequence[int]) -> Array:
    """Return rows of a table; if all are the same row, it is stored once."""
    if len(set(indices)) == 1:
        return np.broadcast_to(numbers(table[indices[0]]), (len(indices), table.shape[1]))
    return numbers(table[list(indices)])


def _table(rows: Array) -> PositionTable:
    """Return a position table: learned, unless it is sinusoidal, with sines and cosines interleaved or in halves."""
    if rows.shape[1] % 2:
        return PositionTable(rows, is_learned=True)
    in_turn = sinusoidal(min(len(rows), _N_COMPARED), rows.shape[1])
    in_halves = np.concatenate([in_turn[:, 0::2], in_turn[:, 1::2]], axis=1)
    are_waves = any(np.allclose(rows[: len(each)], each, atol=1e-4) for each in (in_turn, in_halves))
    return PositionTable(rows, is_learned=not are_waves)


def _structure(stack: Any, names: module_map.Stack) -> Structure:
    # The first layer may lack a norm that all others have.
    layer = layers_of(stack, names)[-1]
    attentions: dict[Branch, module_map.Attention | None] = {"self": names.attention, "cross": names.cross}
    sublayers = [
        Sublayer(
            branch,
            _name_of(layer, each.norm),
            _name_of(layer, each.norm_after),
            _name_of(layer, each.output_norm),
        )
        for branch, each in attentions.items()
        if each is not None
    ]
    feed = names.feed_forward
    inner = next(found for found in map(_parts(layer).get, feed.inner) if found is not None)
    sublayers.append(
        Sublayer(
            "feed-forward",
            _name_of(layer, feed.norm),
            _name_of(layer, feed.norm_after),
            _name_of(layer, feed.output_norm),
            width=linear_of(inner)[0].shape[1] // (2 if feed.has_gate else 1),
            is_gated=feed.has_gate or feed.gate in _parts(layer),
        )
    )
    return Structure(tuple(sublayers), _name_of(stack, names.norm), _name_of(stack, names.final_norm or names.end_norm))


def _parts(module: Any) -> dict[str, Any]:
    return dict(module.named_modules())


def _name_of(module: Any, norm: str | None) -> str:
    found = None if norm is None else norm_of(attrgetter(norm)(module))
    return "" if found is None else found.name


def layers_of(stack: Any, names: module_map.Stack) -> list[Any]:
    """Return the layers of a stack in running order; some may be the same module."""
    layers = list(attrgetter(names.layers)(stack))
    if names.shared is None:
        return layers
    n_layers = stack.config.num_hidden_layers
    # As in transformers (Lan et al. 2020, "ALBERT", section 3.1).
    groups = [layers[int(number / (n_layers / len(layers)))] for number in range(n_layers)]
    return [layer for group in groups for layer in getattr(group, names.shared)]


def _watch(layer: Any, names: module_map.Stack) -> None:
    if names.is_parallel:
        return
    feed = names.feed_forward
    attentions = [each for each in (names.attention, names.cross) if each is not None]
    # The first norm after the sum: directly, or before the next sublayer.
    nexts = [*(each.norm for each in attentions[1:]), feed.norm]
    norms = [each.norm_after or following for each, following in zip(attentions, nexts, strict=True)]
    for norm in filter(None, norms):
        hook = note_lengths(of_input="summed", of_output="normed")
        attrgetter(norm)(layer).register_forward_hook(hook)
    attrgetter(feed.output_norm or feed.output)(layer).register_forward_hook(note_lengths(of_output="fed"))
    layer.register_forward_hook(note_lengths(of_output="left"))


def _part(module: Any, name: str | None) -> torch.nn.Module | None:
    return None if name is None else _parts(module).get(name)


def _attention(layer: Any, stack: module_map.Stack, names: module_map.Attention, n_heads: int) -> Parts:
    """Find the parts of an attention module, and add hooks that complete its record."""
    module = attrgetter(names.query.rpartition(".")[0])(layer)
    attrgetter(names.output)(layer).register_forward_hook(note_added)
    if stack.is_rotary:
        module.register_forward_pre_hook(note_turns, with_kwargs=True)
    before, after, of_queries, of_keys, of_output = (
        None if name is None else attrgetter(name)(layer)
        for name in (names.norm, names.norm_after, names.query_norm, names.key_norm, names.output_norm)
    )
    return Parts(
        projections=_projections(layer, names, n_heads),
        norm=before,
        norm_parts=norm_of(before),
        norm_after=after,
        query_norm=norm_of(of_queries),
        key_norm=norm_of(of_keys),
        output_norm=norm_of(of_output),
        query_scale=module.scaling if names.scales_queries else 1.0,
    )


def _projections(layer: Any, names: module_map.Attention, n_heads: int) -> Projections:
    W_O, b_O = linear_of(attrgetter(names.output)(layer))
    if names.query == names.key == names.value:
        weight, bias = linear_of(attrgetter(names.query)(layer))
        divide = partial(_by_head, n_heads=n_heads) if names.is_by_head else partial(_side_by_side, width=len(W_O))
        W_Q, W_K, W_V = divide(weight)
        b_Q, b_K, b_V = (None, None, None) if bias is None else divide(bias)
    else:
        (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = (
            linear_of(attrgetter(name)(layer)) for name in (names.query, names.key, names.value)
        )
    return Projections(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)


def _side_by_side(weight: Array, width: int) -> tuple[Array, Array, Array]:
    """Split a matrix or bias into queries, of this width, keys and values."""
    rest = (weight.shape[-1] - width) // 2
    queries, keys, values = np.split(weight, [width, width + rest], axis=-1)
    return queries, keys, values


def _by_head(weight: Array, n_heads: int) -> tuple[Array, Array, Array]:
    """Split a matrix or bias that holds queries, keys and values head by head; these are copies."""
    *rows, width = weight.shape
    of_heads = weight.reshape(*rows, n_heads, 3, width // (3 * n_heads))
    parts = [of_heads[..., part, :].reshape(*rows, width // 3) for part in range(3)]
    for part in parts:
        part.setflags(write=False)
    queries, keys, values = parts
    return queries, keys, values


def linear_of(module: Any) -> tuple[Array, Array | None]:
    """Return a linear map's weight as (in, out) and its bias, as read-only views of the model's memory."""
    # GPT-2's Conv1D is a linear map with a transposed weight.
    weight = shared(module.weight)
    return weight if isinstance(module, Conv1D) else weight.T, None if module.bias is None else shared(module.bias)


def norm_of(module: Any) -> Norm | None:
    """Return a module's norm, LayerNorm or RMSNorm; None if there is none; raise ValueError if it is another norm."""
    if module is None or isinstance(module, torch.nn.Identity):
        return None
    found = next((norm for norm in _norms(module) if _reproduces(norm, module)), None)
    if found is None:
        raise ValueError(message("This model's norm {name} is unknown.", name=type(module).__name__))
    return found


def _norms(module: Any) -> Iterator[Norm]:
    epsilon = next((getattr(module, name) for name in ("eps", "variance_epsilon") if hasattr(module, name)), 0.0)
    weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
    # Some have no learned numbers.
    shape = getattr(module, "normalized_shape", ())
    if weight is None and not shape:
        return
    gain = np.ones(shape, np.float32) if weight is None else shared(weight)
    offset = None if bias is None else shared(bias)
    yield Norm(gain, epsilon, offset, centred=True)
    yield Norm(gain, epsilon)
    # Gemma learns the gain's difference from 1, and so does Nemotron.
    yield Norm(1 + gain, epsilon)
    yield Norm(1 + gain, epsilon, offset, centred=True)


@torch.inference_mode()
def _reproduces(norm: Norm, module: Any) -> bool:
    """Return whether a norm reproduces a module's output on some vectors."""
    vectors = np.linspace(-1, 2, 3 * norm.gain.size, dtype=np.float32).reshape(3, -1) ** 3
    weight = next(module.parameters(), torch.empty(0))
    given = as_in(vectors, weight)
    near = nearness(given.dtype)
    return np.allclose(norm(numbers(given)), numbers(module(given)), rtol=near, atol=near)


def shared(parameter: torch.Tensor) -> Array:
    """Return a parameter as a read-only view of the model's memory."""
    array = numbers(parameter)
    array.setflags(write=False)
    return array
