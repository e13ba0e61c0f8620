"""All heads in one module: a linear map each for q, k and v, cut into heads by view and transpose."""

from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Attention of a text to itself, as most models write it."""

    def __init__(self, d_model: int, n_heads: int, d_head: int) -> None:
        """Make four linear maps."""
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.q = nn.Linear(d_model, n_heads * d_head)
        self.k = nn.Linear(d_model, n_heads * d_head)
        self.v = nn.Linear(d_model, n_heads * d_head)
        self.out = nn.Linear(n_heads * d_head, d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what all heads together add to the tokens' vectors."""
        Q, K, V = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        scores = Q @ K.transpose(1, 2) / self.d_head**0.5 + mask
        weights = scores.softmax(dim=-1)
        outputs = weights @ V
        joined = outputs.transpose(0, 1).reshape(len(x), self.n_heads * self.d_head)
        added: Tensor = self.out(joined)
        return added

    def heads(self, vectors: Tensor) -> Tensor:
        """Cut every vector into heads, and put the heads first."""
        return vectors.view(len(vectors), self.n_heads, self.d_head).transpose(0, 1)
