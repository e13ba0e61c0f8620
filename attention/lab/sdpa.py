"""PyTorch's own function, which does scores, scaling, mask, softmax and sum in one call."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["SdpaSelfAttention"]


class SdpaSelfAttention(nn.Module):
    """Multi-head self-attention by ``scaled_dot_product_attention``: the weights are never seen."""

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
        queries = self.query(x).unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)  # B H T D
        keys = self.key(x).unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)  # B H T D
        values = self.value(x).unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)  # B H T D

        heads = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)  # B H T D

        joined = heads.transpose(1, 2).flatten(2)  # B T H*D
        output: Tensor = self.output(joined)  # B T M
        return output
