"""A stand-in until the real one is merged."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from attention.trace import ModelInfo


def architecture_of(config: dict[str, Any]) -> str:
    found = config.get("model_type")
    if found not in ("bert", "llama"):
        raise ValueError(f"This model is of the architecture {found!r}. Those that can be shown are: bert, llama.")
    return str(found)


def info_from_config(model_id: str, folder: Path, *, name: str, licence: str, source: str) -> ModelInfo:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"The model's config.json cannot be read: {error}") from error
    kind = architecture_of(config)
    with (folder / "model.safetensors").open("rb") as opened:
        header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
    return ModelInfo(
        model_id=model_id,
        name=name,
        architecture=kind,
        n_layers=config["num_hidden_layers"],
        n_heads=config["num_attention_heads"],
        n_key_value_heads=config.get("num_key_value_heads", config["num_attention_heads"]),
        d_model=config["hidden_size"],
        d_head=config["hidden_size"] // config["num_attention_heads"],
        max_tokens=min(512, config["max_position_embeddings"]),
        n_parameters=sum(math.prod(t["shape"]) for n, t in header.items() if n != "__metadata__"),
        licence=licence,
        source=source,
        summary=kind,
        is_decoder=kind == "llama",
    )
