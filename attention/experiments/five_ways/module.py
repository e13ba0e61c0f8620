"""All heads in one module: one linear map each for q, k and v, split into heads by view and transpose."""

from jaxtyping import Float
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Self-attention as most models write it (Vaswani et al. 2017, section 3.2.2)."""

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
        Q = self.split(self.q(x))  # (H, T, D)
        K = self.split(self.k(x))  # (H, T, D)
        V = self.split(self.v(x))  # (H, T, D)

        scores = Q @ K.transpose(1, 2) / self.d_head**0.5 + mask  # (H, T, T)
        weights = scores.softmax(dim=-1)  # (H, T, T)

        outputs = weights @ V  # (H, T, D)
        joined = outputs.transpose(0, 1).reshape(len(x), -1)  # (T, H*D)
        added: Float[Tensor, "T M"] = self.out(joined)
        return added

    def split(self, vectors: Float[Tensor, "T H*D"]) -> Float[Tensor, "H T D"]:
        """Split every vector into heads, and put the axis of heads first."""
        return vectors.view(len(vectors), self.n_heads, self.d_head).transpose(0, 1)
