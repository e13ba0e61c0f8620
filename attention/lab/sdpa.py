"""The same with PyTorch's own function, which never writes the weights down: fast, and nothing to see."""

import torch.nn.functional as F
from torch import Tensor, nn


class LibraryAttention(nn.Module):
    """Attention of a text to itself, as a model of today runs it."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make four linear maps."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.q, self.k, self.v = (nn.Linear(d_model, n_heads * d_head) for _ in range(3))
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what all heads together add to the tokens' vectors."""
        Q, K, V = (
            linear(x).view(len(x), self.n_heads, self.d_head).transpose(0, 1) for linear in (self.q, self.k, self.v)
        )
        outputs = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
        joined = outputs.transpose(0, 1).flatten(1)
        added: Tensor = self.out(joined)
        return added
