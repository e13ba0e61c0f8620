"""Weights and scores with their tokens' names, as tables of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_AXES = ("layer", "head", "query", "key")


def to_pandas(
    weights: Float[Array, "L H Q K"], scores: Float[Array, "L H Q K"], queries: Sequence[str], keys: Sequence[str]
) -> pd.DataFrame:
    """Return a row for each weight with its layer, head, query, key, their tokens and its score."""
    import pandas as pd

    places = dict(zip(_AXES, (axis.ravel() for axis in np.indices(weights.shape)), strict=True))
    names = {"query_token": np.array(queries)[places["query"]], "key_token": np.array(keys)[places["key"]]}
    table = pd.DataFrame({**places, **names, "score": scores.ravel(), "weight": weights.ravel()})
    # Layers without attention have none.
    return table[table["weight"].notna()].reset_index(drop=True)


def to_xarray(
    weights: Float[Array, "L H Q K"], scores: Float[Array, "L H Q K"], queries: Sequence[str], keys: Sequence[str]
) -> xr.Dataset:
    """Return weights and scores with named dimensions and tokens; raise ImportError without xarray."""
    try:
        import xarray as xr
    except ImportError:
        raise ImportError("to_xarray needs xarray: pip install xarray; to_pandas does without") from None
    places = {name: np.arange(size) for name, size in zip(_AXES, weights.shape, strict=True)}
    names = {"query_token": ("query", list(queries)), "key_token": ("key", list(keys))}
    return xr.Dataset({"weights": (_AXES, weights), "scores": (_AXES, scores)}, {**places, **names})
