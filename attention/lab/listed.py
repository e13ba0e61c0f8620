"""A list of single heads, side by side: the slowest form, and the one that looks most like the paper."""

import torch
from torch import Tensor, nn


class Head(nn.Module):
    """One head, with maps of its own."""

    def __init__(self, d_model: int, d_head: int) -> None:
        """Make three linear maps."""
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d_model, d_head) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what this head makes of the tokens' vectors."""
        Q, K, V = self.q(x), self.k(x), self.v(x)
        scores = Q @ K.T / K.shape[1] ** 0.5 + mask
        output: Tensor = scores.softmax(dim=-1) @ V
        return output


class ListedAttention(nn.Module):
    """Many heads, one after another, their outputs laid side by side."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make the heads, and the map that mixes them."""
        super().__init__()
        self.heads = nn.ModuleList(Head(d_model, d_head) for _ in range(n_heads))
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what all heads together add to the tokens' vectors."""
        joined = torch.cat([head(x, mask) for head in self.heads], dim=-1)
        added: Tensor = self.out(joined)
        return added
