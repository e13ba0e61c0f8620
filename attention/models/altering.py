"""Changes to heads while a model runs, one for each text of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attention.core.ablation import Change, replaced
from attention.models.recorder import AttentionCall
from attention.models.stack import layer_of_call

__all__ = ["Alteration"]


class Alteration:
    """Replaces the outputs of attention in one run; the layers call it in order."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes
        self._layer = 0

    def __call__(self, call: AttentionCall) -> torch.Tensor:
        """Return the changed output of a layer's attention, of shape (batch, queries, heads, width)."""
        number, self._layer = self._layer, self._layer + 1
        if not any(change.of_layer(number) for change in self._changes):
            return call.output
        output = call.output.clone()
        for index, change in enumerate(self._changes):
            if change.of_layer(number):
                changed = replaced(layer_of_call(call, index), change, number)
                output[index] = torch.from_numpy(changed).transpose(0, 1)
        return output
