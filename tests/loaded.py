"""The bundled models, each loaded once for all tests of a process."""

from functools import cache

from attention import models

__all__ = ["load"]


@cache
def load(model_id: str) -> models.Model:
    """Return a bundled model, to compute with; tests of loading itself load it again."""
    assert models.bundled.find(model_id) is not None, f"{model_id} does not come with the project"
    return models.load(model_id)
