"""Tiny models of random numbers, one of each architecture, saved as ``from_pretrained`` reads them.

They are as small as a model can be and still have several layers, heads and groups; their tokenizers
know the words of a few sentences. What they give is no language, but it is attention.
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

__all__ = ["KINDS", "make"]

SENTENCES = [
    "The cat sat on the mat.",
    "A small dog ran to the old tree, and the birds sang.",
    "She doesn't know why the tokenizers cut unbelievable words.",
    "In 2023 the naïve café owner was happy; he wasn't before!",
    "The capital of France is Paris.",
]
# Large enough for weights that are not all alike.
SPREAD = 0.3


def make(kind: str, folder: Path) -> Path:
    """Save a tiny model and its tokenizer into a folder, the same numbers every time, and return the folder.

    Raises:
        KeyError: there is no such kind; see ``KINDS``.
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
                # Norms and biases start as ones and zeros; in a model that has learnt they are neither.
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
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def _vocabulary(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, but the longest, and its letters: no trainer, since those differ from run to run."""
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
    # As GPT-2's own, it has no token for padding.
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(
        tokenizer_object=_byte_level(end), unk_token=end, bos_token=end, eos_token=end, model_max_length=128
    )


def _llama_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _byte_level("<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")


def _roberta_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
    )


def _unigram(*special: str) -> Tokenizer:
    """Return a tokenizer as SentencePiece has it: a space is a part of the token after it."""
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


def _xlm_roberta_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = _unigram("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
    )


# ----------------------------------------------------------------------------------------- models


def _bert(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=128,
        initializer_range=SPREAD,
    )
    return transformers.BertForMaskedLM(config)


def _roberta(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.RobertaConfig(**_roberta_sizes(tokenizer))
    return transformers.RobertaForMaskedLM(config)


def _xlm_roberta(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.XLMRobertaConfig(**_roberta_sizes(tokenizer))
    return transformers.XLMRobertaForMaskedLM(config)


def _roberta_sizes(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        # Positions begin at 2, after that of padding.
        "max_position_embeddings": 130,
        "type_vocab_size": 1,
        "initializer_range": SPREAD,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
    }


def _distilbert(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
        max_position_embeddings=128,
        initializer_range=SPREAD,
    )
    return transformers.DistilBertForMaskedLM(config)


def _gpt2(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=32,
        n_layer=3,
        n_head=4,
        n_positions=128,
        initializer_range=SPREAD,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(config)


def _llama(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=SPREAD / 2,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        tie_word_embeddings=True,
    )
    return transformers.LlamaForCausalLM(config)


def _bart(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=128,
        init_std=SPREAD,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
    )
    return _legible(transformers.BartForConditionalGeneration(config), tokenizer)


def _t5(tokenizer: PreTrainedTokenizerFast) -> Any:
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        # The heads together are wider than the model, as in the larger T5.
        d_kv=12,
        num_heads=4,
        num_layers=2,
        num_decoder_layers=3,
        d_ff=48,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=16,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = transformers.T5ForConditionalGeneration(config)
    with torch.no_grad():
        for stack in (model.encoder, model.decoder):
            torch.nn.init.normal_(stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight)
    return _legible(model, tokenizer)


def _legible(model: Any, tokenizer: PreTrainedTokenizerFast) -> Any:
    """Let a model write letters, and no pair of tokens twice: with random numbers it would write one byte for ever."""
    texts = {number: tokenizer.decode([number]) for number in range(len(tokenizer))}
    special = set(tokenizer.all_special_ids) - {tokenizer.eos_token_id}
    model.generation_config.no_repeat_ngram_size = 2
    model.generation_config.suppress_tokens = [
        number for number, text in texts.items() if number in special or not (text.isascii() and text.isprintable())
    ]
    return model


def _vit(_: None) -> Any:
    config = transformers.ViTConfig(
        image_size=8,
        patch_size=2,
        num_channels=1,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        initializer_range=SPREAD,
        num_labels=10,
    )
    return transformers.ViTForImageClassification(config)


_MAKERS: dict[str, tuple[Callable[[Any], Any], Callable[[], PreTrainedTokenizerFast | None]]] = {
    "bert": (_bert, _word_piece),
    "roberta": (_roberta, _roberta_tokenizer),
    "xlm-roberta": (_xlm_roberta, _xlm_roberta_tokenizer),
    "distilbert": (_distilbert, _word_piece),
    "gpt2": (_gpt2, _gpt2_tokenizer),
    "llama": (_llama, _llama_tokenizer),
    "bart": (_bart, _roberta_tokenizer),
    "t5": (_t5, _t5_tokenizer),
    "vit": (_vit, lambda: None),
}
KINDS = tuple(_MAKERS)
