"""The same with PyTorch's own function: fast, but it never stores the weights."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class LibraryAttention(nn.Module):
    """Self-attention as today's models run it."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make four linear maps."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.q = nn.Linear(d_model, n_heads * d_head)
        self.k = nn.Linear(d_model, n_heads * d_head)
        self.v = nn.Linear(d_model, n_heads * d_head)
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "T M"]:
        """Return ΔE, the sum over all heads."""
        Q, K, V = (map_(x).unflatten(1, (self.n_heads, -1)).transpose(0, 1) for map_ in (self.q, self.k, self.v))
        outputs = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)  # (H, T, D)
        joined = outputs.transpose(0, 1).flatten(1)  # (T, H*D)
        added: Float[Tensor, "T M"] = self.out(joined)
        return added
