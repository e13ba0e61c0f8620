"""A list of single heads: the slowest form, and the one that most resembles the paper."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Head(nn.Module):
    """One head, with its own linear maps."""

    def __init__(self, d_model: int, d_head: int) -> None:
        """Make three linear maps."""
        super().__init__()
        self.q = nn.Linear(d_model, d_head)
        self.k = nn.Linear(d_model, d_head)
        self.v = nn.Linear(d_model, d_head)

    def forward(self, x: Float[Tensor, "T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "T D"]:
        """Return the output of this head for every token."""
        Q, K, V = self.q(x), self.k(x), self.v(x)  # (T, D) each
        scores = Q @ K.T / K.shape[1] ** 0.5 + mask  # (T, T)
        weights = scores.softmax(dim=-1)  # (T, T)
        output: Float[Tensor, "T D"] = weights @ V
        return output


class ListedAttention(nn.Module):
    """Several heads, one after another: ``Concat(head_1, ..., head_H) W_O``."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make the heads, and the linear map that mixes them."""
        super().__init__()
        self.heads = nn.ModuleList(Head(d_model, d_head) for _ in range(n_heads))
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "T M"]:
        """Return ΔE, the sum over all heads."""
        joined = torch.cat([head(x, mask) for head in self.heads], dim=-1)  # (T, H*D)
        added: Float[Tensor, "T M"] = self.out(joined)
        return added
