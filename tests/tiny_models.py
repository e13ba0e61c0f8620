"""Tiny random models, one of each architecture, saved in ``from_pretrained`` layout.

They are as small as possible with several layers, heads and groups; their tokenizers know the words of a few sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

__all__ = ["BESIDE", "KINDS", "MIXED", "OTHERS", "PAIRS", "TODAY", "UNEVEN", "make"]

SENTENCES = [
    "The cat sat on the mat.",
    "A small dog ran to the old tree, and the birds sang.",
    "She doesn't know why the tokenizers cut unbelievable words.",
    "In 2023 the naïve café owner was happy; he wasn't before!",
    "The capital of France is Paris.",
]
# Large enough for weights that differ.
SPREAD = 0.3


def make(kind: str, folder: Path) -> Path:
    """Save a tiny model and its tokenizer into a folder, always with the same numbers; return the folder.

    Raises:
        KeyError: unknown kind; see ``KINDS``.
    """
    maker, make_tokenizer = _MAKERS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = maker(tokenizer)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                # Norms and biases start as ones and zeros; in a trained model they are neither.
                if parameter.ndim == 1 and "final_logits" not in name:
                    parameter.add_(torch.randn_like(parameter) * 0.1)
        model.save_pretrained(folder)
    return folder


# ------------------------------------------------------------------------------------- tokenizers


def _word_piece() -> PreTrainedTokenizerFast:
    words, letters = _vocabulary(" ".join(SENTENCES).lower())
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters, *(f"##{c}" for c in letters)]
    numbers = {token: number for number, token in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **{f"{name}_token": f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")},
    )


def _vocabulary(text: str) -> tuple[list[str], list[str]]:
    """Return a text's words, except the longest, and its letters; trainers would differ from run to run."""
    words = sorted({word for word in re.findall(r"[A-Za-z]+", text) if len(word) < 8})
    return words, sorted(set(text) - {" "})


def _byte_level(*special: str) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def _gpt2_tokenizer() -> PreTrainedTokenizerFast:
    # Like GPT-2's own, it has no padding token.
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(
        tokenizer_object=_byte_level(end), unk_token=end, bos_token=end, eos_token=end, model_max_length=128
    )


def _llama_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _byte_level("<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")


_LIKE_ROBERTA = {
    **dict.fromkeys(("bos_token", "cls_token"), "<s>"),
    **dict.fromkeys(("eos_token", "sep_token"), "</s>"),
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}


def _roberta_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_LIKE_ROBERTA)


def _unigram(*special: str) -> Tokenizer:
    """Return a tokenizer like SentencePiece's: a space belongs to the token after it."""
    words, letters = _vocabulary(" ".join(SENTENCES))
    likely = [(f"▁{word}", -4.0) for word in words]
    unlikely = [(piece, -6.0) for piece in ("▁", *letters)]
    pieces = [*((name, 0.0) for name in special), *likely, *unlikely]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=special.index("<unk>")))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _t5_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _unigram("<pad>", "</s>", "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>", pad_token="<pad>")


def _xlm_roberta_tokenizer(
    single: str = "<s> $A </s>", pair: str = "<s> $A </s> </s> $B </s>", languages: tuple[str, ...] = ()
) -> PreTrainedTokenizerFast:
    names = ("<s>", "<pad>", "</s>", "<unk>", "<mask>", *languages)
    tokenizer = _unigram(*names)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, number) for number, name in enumerate(names)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_LIKE_ROBERTA, extra_special_tokens=list(languages))


# Language codes follow <mask>; this is the second.
_FRENCH = 6


def _mbart_tokenizer() -> PreTrainedTokenizerFast:
    """A source ends with its language code."""
    return _xlm_roberta_tokenizer("$A </s> en_XX", "$A $B </s> en_XX", ("en_XX", "fr_XX"))


def _m2m_100_tokenizer() -> PreTrainedTokenizerFast:
    """A source begins with its language code."""
    return _xlm_roberta_tokenizer("__en__ $A </s>", "__en__ $A $B </s>", ("__en__", "__fr__"))


def _blenderbot_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _byte_level("<pad>", "<s>", "</s>", "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    )


# ----------------------------------------------------------------------------------------- models

_Maker = Callable[[Any], Any]


def _of(name: str, **sizes: Any) -> _Maker:
    """Return a maker of a model of transformers, with these sizes and the vocabulary of its tokenizer."""

    def make_model(tokenizer: PreTrainedTokenizerFast | None) -> Any:
        kind = getattr(transformers, name)
        words = {} if tokenizer is None else {"vocab_size": len(tokenizer)}
        return kind(kind.config_class(**words, **sizes))

    return make_model


def _then(make_model: _Maker, change: Callable[[Any], Any]) -> _Maker:
    """Return a maker of a model that is changed after it is made."""

    def make_changed(tokenizer: PreTrainedTokenizerFast) -> Any:
        model = make_model(tokenizer)
        change(model)
        return model

    return make_changed


def _legible(make_model: _Maker) -> _Maker:
    """Make a model write letters, and no bigram twice: a random one would repeat one byte for ever."""

    def make_legible(tokenizer: PreTrainedTokenizerFast) -> Any:
        model = make_model(tokenizer)
        texts = {number: tokenizer.decode([number]) for number in range(len(tokenizer))}
        special = set(tokenizer.all_special_ids) - {tokenizer.eos_token_id, model.generation_config.forced_bos_token_id}
        model.generation_config.no_repeat_ngram_size = 2
        model.generation_config.suppress_tokens = [
            number for number, text in texts.items() if number in special or not (text.isascii() and text.isprintable())
        ]
        return model

    return make_legible


_SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
    "initializer_range": SPREAD,
}
_NARROW_WORDS = _SMALL | {"embedding_size": 20, "hidden_size": 36, "intermediate_size": 44}
_SPECIAL = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
# Positions begin at 2, after the padding position.
_ROBERTAS = _SMALL | _SPECIAL | {"max_position_embeddings": 130}

_T5S: dict[str, Any] = {
    "d_model": 32,
    # The heads together are wider than the model, as in larger T5s.
    "d_kv": 12,
    "num_heads": 4,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "d_ff": 48,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 16,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
# Encoder–decoders of odd sizes, whose halves also differ in inner width.
_TWO_STACKS: dict[str, Any] = {
    "d_model": 30,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 5,
    "decoder_attention_heads": 5,
    "encoder_ffn_dim": 44,
    "decoder_ffn_dim": 52,
    "max_position_embeddings": 128,
    "scale_embedding": True,
    "init_std": SPREAD / 2,
}
_BARTS = _TWO_STACKS | _SPECIAL | {"forced_eos_token_id": 2}
_BLENDERBOTS = _TWO_STACKS | {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}


def _bias_by_distance(*stacks: Any) -> None:
    """Give relative positions a bias; transformers begins with zeros."""
    for stack in stacks:
        torch.nn.init.normal_(stack.relative_attention_bias.weight)


def _of_t5s_kind(name: str, **own: int) -> _Maker:
    def bias(model: Any) -> None:
        _bias_by_distance(*(stack.block[0].layer[0].SelfAttention for stack in (model.encoder, model.decoder)))

    return _legible(_then(_of(name, **_T5S, **own), bias))


def _begin_in_french(model: Any) -> None:
    model.generation_config.forced_bos_token_id = _FRENCH


def _repeat_nothing_of_the_source(model: Any) -> None:
    """Never repeat source n-grams (n = 3 in the real one)."""
    model.generation_config.encoder_no_repeat_ngram_size = 1


# Recent architectures, of odd sizes: heads that are together wider or narrower than the model, windows shorter than
# sentences, partial or scaled rotation.
_GROUPED: dict[str, Any] = {
    "hidden_size": 42,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "intermediate_size": 56,
    "max_position_embeddings": 128,
    "initializer_range": SPREAD / 2,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
# Where the width of a head is that of the model, shared out.
_SHARED_OUT = {name: size for name, size in _GROUPED.items() if name != "head_dim"} | {"hidden_size": 48}
_IN_TURN = {
    "sliding_window": 4,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}


def _rope(kind: str, **settings: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 10_000.0, **settings}}


_LONGROPE = _rope(
    "longrope",
    short_factor=[1.0, 1.1, 1.3, 1.7],
    long_factor=[1.0, 2.0, 4.0, 8.0],
    factor=4.0,
    original_max_position_embeddings=32,
)
_LLAMA3S_ROPE = _rope(
    "llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16
)
_GEMMA3 = _GROUPED | _IN_TURN | {"query_pre_attn_scalar": 9}
_NEOX = {
    **{
        name: size for name, size in _GROUPED.items() if name not in ("head_dim", "num_key_value_heads", "pad_token_id")
    },
    "hidden_size": 48,
    "num_attention_heads": 4,
    "tie_word_embeddings": False,
    **_rope("default", partial_rotary_factor=0.5),
}
_OPT = {
    "hidden_size": 30,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "ffn_dim": 44,
    "max_position_embeddings": 128,
    "init_std": SPREAD / 2,
    "bos_token_id": 2,
    "eos_token_id": 2,
    "pad_token_id": 1,
}


def _gemma3_with_pictures(tokenizer: PreTrainedTokenizerFast) -> Any:
    return _of(
        "Gemma3ForConditionalGeneration",
        text_config=transformers.Gemma3TextConfig(vocab_size=len(tokenizer), **_GEMMA3),
        vision_config=_SIGHT | {"image_size": 8, "patch_size": 4},
        mm_tokens_per_image=1,
        image_token_index=len(tokenizer) - 1,
    )(None)


def _t5gemma(tokenizer: PreTrainedTokenizerFast) -> Any:
    layers = _GROUPED | {"vocab_size": len(tokenizer), "sliding_window": 4, "query_pre_attn_scalar": 9}
    layers["pad_token_id"] = 0
    return _legible(
        _of(
            "T5GemmaForConditionalGeneration",
            encoder={**layers, "num_hidden_layers": 2},
            decoder=layers,
            pad_token_id=0,
            eos_token_id=1,
            # It treats every padding token as padding, even the one with which others begin.
            decoder_start_token_id=2,
        )
    )(tokenizer)


def _in_turn(model: Any) -> Any:
    model.config.use_parallel_residual = False
    return transformers.GPTNeoXForCausalLM(model.config)


# A vision part with two layers; each architecture has its own names in the configuration.
_SIGHT = {
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
_QWENS_SIGHT = {"depth": 2, "hidden_size": 16, "num_heads": 2, "patch_size": 8, "intermediate_size": 20}
_HEARING = {"num_mel_bins": 8, "max_source_positions": 16}


def _reader(make_config: Any, tokenizer: PreTrainedTokenizerFast, **own: Any) -> dict[str, Any]:
    """Return the configuration of the text part."""
    sizes = {**_GROUPED, "hidden_size": 48, "head_dim": 8, "vocab_size": len(tokenizer), "use_sliding_window": False}
    config: dict[str, Any] = make_config(**sizes, **own).to_dict()
    return config


def _turned_by_three() -> dict[str, Any]:
    """Return rotary positions for time, rows and columns, which are equal for text."""
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [1, 1, 2]}}


def _beside(name: str) -> Callable[[PreTrainedTokenizerFast], Any]:
    """Return a maker of a model that also reads something other than text."""

    def make_model(tokenizer: PreTrainedTokenizerFast) -> Any:
        texts, sight, hearing = _BESIDE[name]
        extra = _turned_by_three() if name.startswith("Qwen") and sight else {}
        parts = {"text_config": _reader(getattr(transformers, texts), tokenizer, **extra)}
        parts |= {"vision_config": sight} if sight else {"audio_config": hearing}
        # No word of the sentences stands for a picture.
        places = {"image_token_id": len(tokenizer) - 1, "image_token_index": len(tokenizer) - 1}
        config = getattr(transformers, f"{name}Config")(**parts, **(places if sight else {}))
        return getattr(transformers, f"{name}ForConditionalGeneration")(config)

    return make_model


# By transformers' name: the configurations of the text part and of the other part.
_BESIDE: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Mistral3": ("MistralConfig", {"model_type": "pixtral", **_SIGHT}, {}),
    "Llava": ("LlamaConfig", {"model_type": "clip_vision_model", **_SIGHT}, {}),
    "LlavaNext": ("MistralConfig", {"model_type": "clip_vision_model", **_SIGHT}, {}),
    "Idefics3": ("LlamaConfig", _SIGHT, {}),
    "SmolVLM": ("LlamaConfig", _SIGHT, {}),
    "InternVL": ("Qwen2Config", {**_SIGHT, "image_size": [16, 16], "patch_size": [8, 8]}, {}),
    "AyaVision": ("Cohere2Config", {"model_type": "siglip_vision_model", **_SIGHT}, {}),
    "Qwen2VL": ("Qwen2VLTextConfig", {**_QWENS_SIGHT, "embed_dim": 16, "hidden_size": 48}, {}),
    "Qwen2_5_VL": ("Qwen2_5_VLTextConfig", {**_QWENS_SIGHT, "out_hidden_size": 48}, {}),
    "Qwen3VL": (
        "Qwen3VLTextConfig",
        {**_QWENS_SIGHT, "out_hidden_size": 48, "deepstack_visual_indexes": [0], "num_position_embeddings": 16},
        {},
    ),
    "Qwen2Audio": (
        "Qwen2Config",
        {},
        {**_HEARING, "d_model": 16, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 20},
    ),
    "Voxtral": (
        "LlamaConfig",
        {},
        {
            **_HEARING,
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
        },
    ),
}

_MAKERS: dict[str, tuple[_Maker, Callable[[], PreTrainedTokenizerFast | None]]] = {
    "bert": (_of("BertForMaskedLM", **_SMALL), _word_piece),
    "roberta": (_of("RobertaForMaskedLM", **_ROBERTAS, type_vocab_size=1), _roberta_tokenizer),
    "xlm-roberta": (_of("XLMRobertaForMaskedLM", **_ROBERTAS, type_vocab_size=1), _xlm_roberta_tokenizer),
    "distilbert": (
        _of(
            "DistilBertForMaskedLM",
            dim=32,
            n_layers=2,
            n_heads=4,
            hidden_dim=48,
            max_position_embeddings=128,
            initializer_range=SPREAD,
        ),
        _word_piece,
    ),
    "gpt2": (
        _of(
            "GPT2LMHeadModel",
            n_embd=32,
            n_layer=3,
            n_head=4,
            n_positions=128,
            initializer_range=SPREAD,
            bos_token_id=0,
            eos_token_id=0,
        ),
        _gpt2_tokenizer,
    ),
    "llama": (
        _of("LlamaForCausalLM", **_SHARED_OUT | {"intermediate_size": 64}, tie_word_embeddings=True),
        _llama_tokenizer,
    ),
    "bart": (
        _legible(
            _of(
                "BartForConditionalGeneration",
                **_BARTS
                | dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
                | dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48)
                | {"d_model": 32, "scale_embedding": False, "init_std": SPREAD, "decoder_start_token_id": 2},
            )
        ),
        _roberta_tokenizer,
    ),
    "t5": (_of_t5s_kind("T5ForConditionalGeneration"), _t5_tokenizer),
    "mt5": (_of_t5s_kind("MT5ForConditionalGeneration"), _t5_tokenizer),
    "umt5": (_of_t5s_kind("UMT5ForConditionalGeneration"), _t5_tokenizer),
    "pegasus": (
        _legible(
            _of(
                "PegasusForConditionalGeneration",
                **_TWO_STACKS,
                pad_token_id=0,
                eos_token_id=1,
                decoder_start_token_id=0,
                forced_eos_token_id=1,
            )
        ),
        _t5_tokenizer,
    ),
    "mbart": (
        _legible(_of("MBartForConditionalGeneration", **_BARTS, decoder_start_token_id=_FRENCH)),
        _mbart_tokenizer,
    ),
    "m2m_100": (
        _legible(
            _then(
                _of(
                    "M2M100ForConditionalGeneration",
                    **_BARTS | {"max_position_embeddings": 130},
                    decoder_start_token_id=2,
                ),
                _begin_in_french,
            )
        ),
        _m2m_100_tokenizer,
    ),
    # It names no decoder start token: then that is the token at the beginning of a text.
    "plbart": (_legible(_of("PLBartForConditionalGeneration", **_BARTS)), _mbart_tokenizer),
    "blenderbot": (
        _then(_legible(_of("BlenderbotForConditionalGeneration", **_BLENDERBOTS)), _repeat_nothing_of_the_source),
        _blenderbot_tokenizer,
    ),
    "blenderbot-small": (
        _legible(_of("BlenderbotSmallForConditionalGeneration", **_BLENDERBOTS | {"init_std": SPREAD})),
        _blenderbot_tokenizer,
    ),
    "vit": (
        _of(
            "ViTForImageClassification",
            **{name: size for name, size in _SMALL.items() if name != "max_position_embeddings"},
            image_size=8,
            patch_size=2,
            num_channels=1,
            num_labels=10,
        ),
        lambda: None,
    ),
}
KINDS = tuple(_MAKERS)
_MAKERS |= {
    "llama-untied": (
        _of("LlamaForCausalLM", **_GROUPED, **_LLAMA3S_ROPE, tie_word_embeddings=False, attention_bias=True),
        _llama_tokenizer,
    ),
    "mistral": (_of("MistralForCausalLM", **_GROUPED, sliding_window=5), _llama_tokenizer),
    "qwen2": (
        _of("Qwen2ForCausalLM", **_SHARED_OUT, **_IN_TURN, tie_word_embeddings=True, use_sliding_window=True),
        _gpt2_tokenizer,
    ),
    "qwen3": (
        _of(
            "Qwen3ForCausalLM",
            **_GROUPED,
            **_rope("yarn", factor=4.0, original_max_position_embeddings=32),
            attention_bias=True,
        ),
        _gpt2_tokenizer,
    ),
    "gemma2": (
        _of(
            "Gemma2ForCausalLM",
            **_GROUPED,
            **_IN_TURN,
            # Low enough that the largest scores are capped.
            attn_logit_softcapping=2.0,
            final_logit_softcapping=3.0,
            query_pre_attn_scalar=7,
        ),
        _llama_tokenizer,
    ),
    "gemma3_text": (_of("Gemma3ForCausalLM", **_GEMMA3), _llama_tokenizer),
    "gemma3": (_gemma3_with_pictures, _llama_tokenizer),
    "phi3": (
        _of("Phi3ForCausalLM", **_SHARED_OUT, **_LONGROPE, original_max_position_embeddings=32, sliding_window=5),
        _llama_tokenizer,
    ),
    "gpt_neox": (_of("GPTNeoXForCausalLM", **_NEOX), _gpt2_tokenizer),
    "gpt_neox-in-turn": (lambda tokenizer: _in_turn(_of("GPTNeoXForCausalLM", **_NEOX)(tokenizer)), _gpt2_tokenizer),
    "opt": (_of("OPTForCausalLM", **_OPT, word_embed_proj_dim=30), _roberta_tokenizer),
    "opt-350m": (
        _of("OPTForCausalLM", **_OPT, word_embed_proj_dim=18, do_layer_norm_before=False),
        _roberta_tokenizer,
    ),
    "bloom": (
        _of(
            "BloomForCausalLM",
            hidden_size=42,
            n_layer=3,
            # Not a power of 2: then the slopes come from two sequences.
            n_head=6,
            initializer_range=SPREAD / 2,
            bos_token_id=0,
            eos_token_id=1,
            pad_token_id=1,
        ),
        _llama_tokenizer,
    ),
    "electra": (_of("ElectraForPreTraining", **_NARROW_WORDS), _word_piece),
    "albert": (
        _of("AlbertForMaskedLM", **_NARROW_WORDS | {"num_hidden_layers": 4}, **_SPECIAL, num_hidden_groups=2),
        _xlm_roberta_tokenizer,
    ),
    "mpnet": (
        _then(
            _of("MPNetForMaskedLM", **_ROBERTAS),
            lambda model: _bias_by_distance(model.mpnet.encoder),
        ),
        _xlm_roberta_tokenizer,
    ),
    "modernbert": (
        _of(
            "ModernBertForMaskedLM",
            **_SMALL | _SPECIAL | {"hidden_size": 36, "num_attention_heads": 3, "intermediate_size": 44},
            initializer_cutoff_factor=2.0,
            attention_bias=True,
            local_attention=4,
            global_attn_every_n_layers=2,
            cls_token_id=0,
            sep_token_id=2,
        ),
        _roberta_tokenizer,
    ),
}
TODAY = tuple(kind for kind in _MAKERS if kind not in KINDS)
# Architectures without an entry. OLMo 2 normalises all heads together, and Cohere rotates other pairs.
_MAKERS |= {
    "starcoder2": (_of("Starcoder2ForCausalLM", **_SHARED_OUT), _gpt2_tokenizer),
    "olmo2": (_of("Olmo2ForCausalLM", **_SHARED_OUT), _gpt2_tokenizer),
    "cohere": (_of("CohereForCausalLM", **_SHARED_OUT), _gpt2_tokenizer),
    # Its heads have attention sinks.
    "gpt_oss": (
        _of(
            "GptOssForCausalLM",
            **_GROUPED | _IN_TURN | {"hidden_size": 48},
            **_rope("default"),
            num_local_experts=3,
            num_experts_per_tok=2,
        ),
        _gpt2_tokenizer,
    ),
}
# Three encoder–decoders, whose decoders are not searched.
PAIRS = ("switch_transformers", "nllb-moe", "t5gemma")
_MAKERS |= {
    "switch_transformers": (
        _of_t5s_kind(
            "SwitchTransformersForConditionalGeneration",
            num_experts=3,
            num_sparse_encoder_layers=1,
            num_sparse_decoder_layers=1,
        ),
        _t5_tokenizer,
    ),
    "nllb-moe": (
        _legible(
            _of(
                "NllbMoeForConditionalGeneration",
                **_BARTS,
                decoder_start_token_id=2,
                num_experts=3,
                encoder_sparse_step=2,
                decoder_sparse_step=2,
            )
        ),
        _m2m_100_tokenizer,
    ),
    "t5gemma": (_t5gemma, _t5_tokenizer),
}
OTHERS = ("starcoder2", "olmo2", "cohere", "gpt_oss", *PAIRS)
# Those whose heads are not equal shares of a vector.
UNEVEN = ("deepseek_v3", "mobilebert")
_MAKERS |= {
    "deepseek_v3": (
        _of(
            "DeepseekV3ForCausalLM",
            **_SMALL | {"intermediate_size": 40, "initializer_range": SPREAD / 2},
            num_key_value_heads=4,
            # Queries and keys of 8 + 6 dimensions, values of 7.
            qk_nope_head_dim=8,
            qk_rope_head_dim=6,
            v_head_dim=7,
            q_lora_rank=20,
            kv_lora_rank=12,
            moe_intermediate_size=16,
            n_routed_experts=4,
            num_experts_per_tok=2,
            n_group=1,
            topk_group=1,
            bos_token_id=0,
            eos_token_id=1,
            pad_token_id=1,
        ),
        _llama_tokenizer,
    ),
    "mobilebert": (
        # The heads share vectors narrowed to 32 dimensions.
        _of(
            "MobileBertForMaskedLM",
            **_SMALL | {"hidden_size": 48, "intermediate_size": 40},
            intra_bottleneck_size=32,
            embedding_size=16,
        ),
        _word_piece,
    ),
}
# Those in which only some layers have softmax attention.
_MIXED = _SMALL | {"num_hidden_layers": 4, "num_key_value_heads": 2, "bos_token_id": 0, "eos_token_id": 1}
_EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2}
_MAMBAS = {"mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2, "pad_token_id": 1}
MIXED = ("qwen3_next", "lfm2", "jamba", "bamba")
# In each of its layers, attention and a state-space model run in parallel.
PARALLEL = "falcon_h1"
_MAKERS |= {
    "qwen3_next": (
        _of(
            "Qwen3NextForCausalLM",
            **_MIXED | _EXPERTS,
            layer_types=["linear_attention", "full_attention"] * 2,
            head_dim=8,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            moe_intermediate_size=16,
            shared_expert_intermediate_size=16,
            pad_token_id=1,
        ),
        _llama_tokenizer,
    ),
    "lfm2": (
        _of("Lfm2ForCausalLM", **_MIXED, layer_types=["conv", "full_attention", "conv", "full_attention"]),
        _llama_tokenizer,
    ),
    "jamba": (
        _of(
            "JambaForCausalLM",
            **_MIXED | _EXPERTS | _MAMBAS,
            attn_layer_period=2,
            attn_layer_offset=1,
            mamba_dt_rank=4,
            use_mamba_kernels=False,
        ),
        _llama_tokenizer,
    ),
    "bamba": (
        _of(
            "BambaForCausalLM",
            **_MIXED | _MAMBAS,
            attn_layer_indices=[1, 3],
            mamba_n_heads=8,
            mamba_d_head=8,
            mamba_n_groups=1,
            mamba_chunk_size=8,
        ),
        _llama_tokenizer,
    ),
    PARALLEL: (
        _of(
            "FalconH1ForCausalLM",
            **_MIXED | _MAMBAS,
            head_dim=8,
            mamba_n_heads=8,
            mamba_d_head=8,
            mamba_d_ssm=64,
            mamba_n_groups=1,
            mamba_chunk_size=8,
        ),
        _llama_tokenizer,
    ),
}
# Those that also read something other than text; Gemma 3 is one, too.
BESIDE = tuple(_BESIDE)
_MAKERS |= {name: (_beside(name), _llama_tokenizer) for name in BESIDE}
