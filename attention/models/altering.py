"""Changes and interventions in the heads of a running model, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from attention.core.ablation import Change, replaced
from attention.core.interventions import Causes, Intervention
from attention.models.recorder import AttentionCall, Deciding
from attention.models.stack import layer_of_call
from attention.models.tensors import as_in, hidden_lowest, numbers


class Alteration:
    """Replaces the outputs of attention in one run; the layers call it in order."""

    def __init__(self, changes: Sequence[Change], numbers: Sequence[int]) -> None:
        """Take the numbers of the layers that call it."""
        self._changes = changes
        self._numbers = iter(numbers)

    def __call__(self, call: AttentionCall) -> torch.Tensor:
        """Return the changed output of a layer's attention, of shape (batch, queries, heads, width)."""
        number = next(self._numbers)
        if not any(change.of_layer(number) for change in self._changes):
            return call.output
        output = call.output.clone()
        for index, change in enumerate(self._changes):
            if change.of_layer(number):
                changed = replaced(layer_of_call(call, index), change, number)
                output[index] = as_in(changed, output).transpose(0, 1)
        return output


class Intervening:
    """Interventions in one run on one text."""

    def __init__(self, interventions: Sequence[Intervention], layers: Sequence[int]) -> None:
        """Begin before the first layer; ``layers`` are the numbers of those with attention."""
        self._interventions = interventions
        self._layers = iter(layers)
        self._layer = -1

    def before(self, deciding: Deciding, key: torch.Tensor) -> Deciding:
        """Change the query, mask and position bias of the next layer."""
        self._layer = next(self._layers)
        found = self._found()
        if not found:
            return deciding
        query, mask, bias = deciding
        shape = (query.shape[1], query.shape[2], key.shape[2])
        causes = Causes(
            numbers(query[0]).copy(),
            np.zeros(shape, np.float32) if mask is None else np.broadcast_to(hidden_lowest(mask[0]), shape).copy(),
            None if bias is None else np.broadcast_to(numbers(bias[0]), shape).copy(),
        )
        for each in found:
            causes = each.before(causes)
        return (
            as_in(causes.queries, query)[None],
            as_in(causes.mask, query)[None],
            None if bias is None or causes.bias is None else as_in(causes.bias, bias)[None],
        )

    def after(self, call: AttentionCall) -> torch.Tensor:
        """Return the output of the layer's attention, changed, of shape (1, queries, heads, width)."""
        found = self._found()
        if not found:
            return call.output
        outputs = numbers(call.output[0].transpose(0, 1)).copy()
        for each in found:
            outputs = each.after(outputs)
        return as_in(outputs, call.output).transpose(0, 1)[None]

    def _found(self) -> list[Intervention]:
        return [each for each in self._interventions if each.layer == self._layer]
