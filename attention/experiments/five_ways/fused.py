"""One linear map for q, k and v together, and einops to name the axes."""

from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor, nn


class FusedAttention(nn.Module):
    """Self-attention with one matrix product for q, k and v instead of three."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make two linear maps."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.to_qkv = nn.Linear(d_model, 3 * n_heads * d_head)
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Float[Tensor, "T M"], mask: Float[Tensor, "T T"]) -> Float[Tensor, "T M"]:
        """Return ΔE, the sum over all heads."""
        qkv = self.to_qkv(x)  # (T, 3*H*D)
        Q, K, V = rearrange(qkv, "t (three h d) -> three h t d", three=3, h=self.n_heads)  # (H, T, D) each

        # Each letter is an axis; one that is missing after the arrow is summed over.
        scores = einsum(Q, K, "h q d, h k d -> h q k") / self.d_head**0.5 + mask  # (H, T, T)
        weights = scores.softmax(dim=-1)  # (H, T, T)

        outputs = einsum(weights, V, "h q k, h k d -> h q d")  # (H, T, D)
        joined = rearrange(outputs, "h t d -> t (h d)")  # (T, H*D)
        added: Float[Tensor, "T M"] = self.out(joined)
        return added
