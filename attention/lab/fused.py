"""One linear map for q, k and v together, and einops to say which axis is which."""

from einops import einsum, rearrange
from torch import Tensor, nn


class FusedAttention(nn.Module):
    """Attention of a text to itself, with one product of matrices where others have three."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make two linear maps."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.to_qkv = nn.Linear(d_model, 3 * n_heads * d_head)
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what all heads together add to the tokens' vectors."""
        qkv = self.to_qkv(x)
        Q, K, V = rearrange(qkv, "t (three h d) -> three h t d", three=3, h=self.n_heads)
        scores = einsum(Q, K, "h q d, h k d -> h q k") / self.d_head**0.5 + mask
        weights = scores.softmax(dim=-1)
        outputs = einsum(weights, V, "h q k, h k d -> h q d")
        joined = rearrange(outputs, "h t d -> t (h d)")
        added: Tensor = self.out(joined)
        return added
