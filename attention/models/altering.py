"""Interventions in the heads of a running model, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attention.core.interventions import Causes, Intervention
from attention.models.recorder import AttentionCall, Deciding
from attention.models.stack import layer_of_call
from attention.models.tensors import as_in, hidden_lowest, numbers


class Intervening:
    """Interventions in one run on a batch of texts, each text with its own."""

    def __init__(self, texts: Sequence[Sequence[Intervention]], layers: Sequence[int]) -> None:
        """Begin before the first layer; ``layers`` are the numbers of those with attention."""
        self._texts = texts
        self._layers = iter(layers)
        self._layer = -1

    def before(self, deciding: Deciding, key: torch.Tensor) -> Deciding:
        """Change the query, mask and position bias of the next layer."""
        self._layer = next(self._layers)
        acting = self._found(acts_before=True)
        if not acting:
            return deciding
        query, mask, bias = deciding
        shape = (*query.shape[:3], key.shape[2])
        query = query.clone()
        mask = query.new_zeros(shape) if mask is None else mask.expand(shape).clone()
        bias = None if bias is None else bias.expand(shape).clone()
        for index, some in acting.items():
            causes = Causes(
                numbers(query[index]), hidden_lowest(mask[index]), None if bias is None else numbers(bias[index])
            )
            for each in some:
                each.before(causes)
            query[index] = as_in(causes.queries, query)
            mask[index] = as_in(causes.mask, mask)
            if bias is not None and causes.bias is not None:
                bias[index] = as_in(causes.bias, bias)
        return query, mask, bias

    def after(self, call: AttentionCall) -> torch.Tensor:
        """Return the output of the layer's attention, changed, of shape (batch, queries, heads, width)."""
        found = self._found()
        if not found:
            return call.output
        output = call.output.clone()
        for index, some in found.items():
            layer = layer_of_call(call, index)
            outputs = layer.model_output.copy()
            for each in some:
                each.after(layer, outputs)
            output[index] = as_in(outputs, output).transpose(0, 1)
        return output

    def _found(self, *, acts_before: bool = False) -> dict[int, list[Intervention]]:
        """Return the interventions in the layer (or those that act before the softmax), by the text's place."""
        found = {
            index: [each for each in some if each.layer == self._layer and each.acts_before >= acts_before]
            for index, some in enumerate(self._texts)
        }
        return {index: some for index, some in found.items() if some}
