"""A list of single heads, each a small module of its own, and their outputs side by side."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["Head", "ListedSelfAttention"]


class Head(nn.Module):
    """One head of self-attention."""

    def __init__(self, d_model: int, d_head: int) -> None:
        """Make the head's three linear layers."""
        super().__init__()
        self.query = nn.Linear(d_model, d_head)
        self.key = nn.Linear(d_model, d_head)
        self.value = nn.Linear(d_model, d_head)

    def forward(self, x: Float[Tensor, "B T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "B T D"]:
        """Attend with this head."""
        queries, keys, values = self.query(x), self.key(x), self.value(x)  # B T D
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])  # B T T
        weights = torch.softmax(scores + mask, dim=-1)  # B T T
        found: Tensor = weights @ values  # B T D
        return found


class ListedSelfAttention(nn.Module):
    """Multi-head self-attention as the formula has it: ``Concat(head_1, …, head_H) W_O``."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make the heads and the layer that mixes them."""
        super().__init__()
        self.heads = nn.ModuleList(Head(d_model, d_head) for _ in range(n_heads))
        self.output = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "B T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "B T M"]:
        """Ask one head after the other, and mix what they found."""
        joined = torch.cat([head(x, mask) for head in self.heads], dim=-1)  # B T H*D
        output: Tensor = self.output(joined)  # B T M
        return output
