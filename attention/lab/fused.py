"""One linear layer for queries, keys and values together, and what einops calls a rearrangement."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["FusedSelfAttention"]


class FusedSelfAttention(nn.Module):
    """Multi-head self-attention whose three projections are one multiplication: ``x [W_Q W_K W_V]``."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make the two linear layers."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.to_qkv = nn.Linear(d_model, 3 * n_heads * d_head)
        self.to_out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "B T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "B T M"]:
        """Attend with every head, and mix what the heads found."""
        fused = self.to_qkv(x)  # B T 3*H*D

        # einops would write: rearrange(fused, "b t (three h d) -> three b h t d", three=3, h=n_heads)
        queries, keys, values = fused.unflatten(-1, (3, self.n_heads, self.d_head)).permute(2, 0, 3, 1, 4)  # B H T D

        # Each letter is an axis; the one that is not on the right is summed over.
        scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) * self.d_head**-0.5  # B H T T
        weights = (scores + mask).softmax(dim=-1)  # B H T T
        heads = torch.einsum("bhqk,bhkd->bhqd", weights, values)  # B H T D

        # einops would write: rearrange(heads, "b h t d -> b t (h d)")
        joined = heads.permute(0, 2, 1, 3).flatten(2)  # B T H*D
        output: Tensor = self.to_out(joined)  # B T M
        return output
