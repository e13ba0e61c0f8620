"""All heads in a PyTorch module: three linear layers, and the heads made by ``view`` and ``transpose``."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["SelfAttention"]


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017, section 3.2.2), its heads side by side in one matrix."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make the four linear layers."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.query = nn.Linear(d_model, n_heads * d_head)
        self.key = nn.Linear(d_model, n_heads * d_head)
        self.value = nn.Linear(d_model, n_heads * d_head)
        self.output = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "B T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "B T M"]:
        """Attend with every head, and mix what the heads found."""
        queries = self.split(self.query(x))  # B H T D
        keys = self.split(self.key(x))  # B H T D
        values = self.split(self.value(x))  # B H T D

        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # B H T T
        weights = torch.softmax(scores + mask, dim=-1)  # B H T T

        heads = weights @ values  # B H T D
        joined = heads.transpose(1, 2).flatten(2)  # B T H*D
        output: Tensor = self.output(joined)  # B T M
        return output

    def split(self, vectors: Float[Tensor, "B T H*D"]) -> Float[Tensor, "B H T D"]:
        """Cut each token's long vector into one short vector per head."""
        return vectors.view(*vectors.shape[:2], self.n_heads, self.d_head).transpose(1, 2)
