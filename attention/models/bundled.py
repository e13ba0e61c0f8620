"""The models that come with the project: what each one is, and where its weights are."""

from __future__ import annotations

from attention.models import weights
from attention.models.base import ModelInfo
from attention.models.toy import TOY_INFO
from attention.reading import FRENCH, PICTURE

__all__ = ["INFOS", "SOURCES"]

MINILM_INFO = ModelInfo(
    model_id="minilm-l6",
    name="BERT",
    architecture="BERT encoder (MiniLM-L6)",
    n_layers=6,
    n_heads=12,
    n_key_value_heads=12,
    d_model=384,
    d_head=32,
    max_tokens=512,
    n_parameters=22_713_216,
    licence="Apache-2.0",
    source="sentence-transformers/all-MiniLM-L6-v2",
    summary="A real pretrained BERT of 6 layers with 12 heads each.",
    note="It is all-MiniLM-L6-v2: distilled from a larger model, and then tuned to give one vector for a whole "
    "sentence. It has the vocabulary of bert-base-uncased, but it is not that model, and its heads are others.",
    # In layer 6, head 7, of all words (not [CLS]) both *sat* and *mat* of the first example look most at *cat*.
    default_layer=5,
    default_head=6,
)

SMOLLM2_INFO = ModelInfo(
    model_id="smollm2-135m",
    name="SmolLM2",
    architecture="Llama decoder (SmolLM2-135M-Instruct)",
    n_layers=30,
    n_heads=9,
    n_key_value_heads=3,
    d_model=576,
    d_head=64,
    max_tokens=512,
    n_parameters=134_515_008,
    licence="Apache-2.0",
    source="HuggingFaceTB/SmolLM2-135M-Instruct, as Q4_1 GGUF",
    summary="A real pretrained decoder of 30 layers: 9 query heads in 3 groups, each group with one key/value head, "
    "and rotary positions. It reads from left to right and says what comes next.",
    # In layer 14, head 9, of all that comes before it *sat* looks most at *cat*, and so does *mat*, but for *The*.
    default_layer=13,
    default_head=8,
    is_decoder=True,
)

TRANSLATOR_INFO = ModelInfo(
    model_id="translator-fr-en",
    name="Translator",
    architecture="BART encoder–decoder, trained here",
    n_layers=2,
    n_heads=4,
    n_key_value_heads=4,
    d_model=96,
    d_head=24,
    max_tokens=21,
    n_parameters=480_064,
    licence="MIT",
    source="this project: make train",
    summary="A small encoder and decoder from French to English, trained here on sentences of a grammar: for looking "
    "at cross-attention.",
    # Of all heads of the decoder, the one whose cross-attention finds the right word most often: see its card.
    default_layer=1,
    default_head=2,
    n_decoder_layers=2,
    reading=FRENCH,
)

DIGITS_INFO = ModelInfo(
    model_id="vit-digits",
    name="Digits",
    architecture="Vision Transformer (ViT), trained here",
    n_layers=3,
    n_heads=4,
    n_key_value_heads=4,
    d_model=48,
    d_head=12,
    max_tokens=17,
    n_parameters=58_570,
    licence="MIT; trained on digits under CC BY 4.0",
    source="this project: make train",
    summary="A small vision Transformer, trained here, that reads a digit of 8×8 pixels: its tokens are patches.",
    # In layer 2, head 3, [CLS] gives most of its weight to the one patch by which many digits are told apart.
    default_layer=1,
    default_head=2,
    reading=PICTURE,
)

INFOS = (TOY_INFO, MINILM_INFO, SMOLLM2_INFO, TRANSLATOR_INFO, DIGITS_INFO)
SOURCES = {source.model_id: source for source in (weights.MINILM, weights.SMOLLM2, weights.TRANSLATOR, weights.DIGITS)}
