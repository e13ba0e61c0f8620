"""A picture as tokens: [CLS], then square patches, row by row."""

from __future__ import annotations

from typing import Any

import torch

from attention.core import pixels
from attention.core.trace import Token

# ViT's normalisation: grey levels from 0 to 1 become −1 to 1.
_MEAN = _SPREAD = 0.5


class PictureReader:
    """How a Vision Transformer reads a picture of 8×8 pixels (Dosovitskiy et al. 2021, section 3.1).

    The picture is resized bilinearly to the model's input (8×8 is left unchanged) and repeated for each colour channel;
    grey levels from 0 to 16 become 0 to 1, then −1 to 1.
    """

    def __init__(self, config: Any) -> None:
        self._size = _both(config.image_size)
        self._n_colours: int = config.num_channels
        height, width = _both(config.patch_size)
        self._n_rows, self._n_columns = self._size[0] // height, self._size[1] // width

    def pixels(self, text: str) -> torch.Tensor:
        """Return the input, of shape (1, colours, height, width); raise ValueError if the text is not a picture."""
        levels = torch.from_numpy(pixels.shades(text))[None, None]
        resized = torch.nn.functional.interpolate(levels, size=self._size, mode="bilinear", align_corners=False)
        return ((resized - _MEAN) / _SPREAD).expand(-1, self._n_colours, -1, -1)

    def without(self, text: str, position: int) -> str:
        """Return the picture with one token's patch in black."""
        row, column = divmod(position - 1, self._n_columns)
        levels = pixels.parse(text)
        height, width = (-(-pixels.SIDE // count) for count in (self._n_rows, self._n_columns))
        top, left = row * pixels.SIDE // self._n_rows, column * pixels.SIDE // self._n_columns
        levels[top : top + height, left : left + width] = 0
        return pixels.write(levels)

    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens: [CLS], and each patch by its row and column, counted from 1."""
        names = [f"r{row + 1}c{column + 1}" for row in range(self._n_rows) for column in range(self._n_columns)]
        whole = Token("[CLS]", "", None, 0, -1, is_special=True)
        return (whole, *(Token(name, "", i, i + 1, -1) for i, name in enumerate(names)))


def _both(size: Any) -> tuple[int, int]:
    """Return height and width; a configuration may give one number for both."""
    height, width = (size, size) if isinstance(size, int) else size
    return int(height), int(width)
