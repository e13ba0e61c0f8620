"""Train the translator: a small encoder–decoder, French to English, with readable cross-attention.

    python -m attention.training.translator --out assets/models/translator-fr-en [--steps N]

All training data comes from the grammar, with a fixed seed. The only loss is that of the next English word; no head is
trained to attend to anything. What the heads attend to is measured afterwards, on held-out sentences.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array
from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig, PreTrainedTokenizerFast

from attention.training import grammar, vocabulary
from attention.training.grammar import MAX_WORDS
from attention.training.loop import Batch, optimise, read_arguments, report, save
from attention.training.sentence import Sentence, spell

SEED = 2017
STEPS = 3000
BATCH = 128
PEAK_RATE = 2e-3
MAX_TOKENS = MAX_WORDS + 1  # the closing token
N_TESTED = 1000
IGNORED = -100  # the label of padding, which has no loss
# Batches drawn at a time and sorted by length, to reduce padding.
POOL = 16

EXAMPLES = ("Jane visite l'Afrique en septembre", "le chat noir dort")


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a translator on held-out sentences.

    ``predicting`` is, for each head, the share of English content words whose French source has the largest
    cross-attention weight at the position that *predicts* the word (the one before it); ``reading`` is the same at the
    position that reads it.
    """

    n_sentences: int
    n_content_words: int
    loss: float
    exact_match: float
    predicting: Float[Array, "L H"]
    reading: Float[Array, "L H"]
    mistakes: tuple[tuple[str, str], ...]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Make the tokenizer of the grammar's words."""
    return PreTrainedTokenizerFast(
        tokenizer_object=vocabulary.build(*grammar.vocabulary()),
        bos_token=vocabulary.BOS,
        pad_token=vocabulary.PAD,
        eos_token=vocabulary.EOS,
        unk_token=vocabulary.UNKNOWN,
        model_max_length=MAX_TOKENS,
        clean_up_tokenization_spaces=False,
    )


def build_model(tokenizer: PreTrainedTokenizerFast) -> BartForConditionalGeneration:
    """Make the model with random weights: 2 + 2 layers, 4 heads of 24 numbers, one embedding for both sides."""
    ids = {
        "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.bos_token_id,
    }
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=96,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=160,
        decoder_ffn_dim=160,
        max_position_embeddings=MAX_TOKENS,
        # No sentence is repeated, so there is nothing to overfit.
        dropout=0.0,
        attention_dropout=0.0,
        init_std=0.05,
        scale_embedding=True,
        forced_eos_token_id=None,
        **ids,
    )
    model = BartForConditionalGeneration(config)
    model.generation_config = GenerationConfig(max_length=MAX_TOKENS, num_beams=1, do_sample=False, **ids)
    return model


def train(steps: int, seed: int = SEED) -> tuple[BartForConditionalGeneration, PreTrainedTokenizerFast, list[float]]:
    """Train a new translator; return it, its tokenizer, and the loss of each step."""
    torch.manual_seed(seed)
    tokenizer = build_tokenizer()
    model = build_model(tokenizer)
    losses = optimise(model, _batches(tokenizer, seed), steps=steps, peak_rate=PEAK_RATE)
    return model, tokenizer, losses


def held_out_sentences(n_sentences: int, seed: int = SEED) -> list[Sentence]:
    """Draw sentences whose combinations of words are never used for training."""
    rng = random.Random(f"held out {seed}")  # noqa: S311 - no secret, but the same sentences every time
    return [grammar.draw(rng, held_out=True) for _ in range(n_sentences)]


def translate(model: Any, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]) -> list[str]:
    """Translate French sentences greedily."""
    inputs = tokenizer(list(texts), return_tensors="pt", padding=True)
    with torch.inference_mode():
        written = model.generate(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
    return list(tokenizer.batch_decode(written, skip_special_tokens=True))


def measure(model: Any, tokenizer: PreTrainedTokenizerFast, sentences: Sequence[Sentence]) -> Measured:
    """Translate the sentences, and measure each head's attention under teacher forcing."""
    translations = translate(model, tokenizer, [spell(sentence.french) for sentence in sentences])
    wanted = [spell(sentence.english) for sentence in sentences]
    mistakes = [(sentence, given) for sentence, given, true in zip(sentences, translations, wanted, strict=True)
                if given != true]  # fmt: skip
    model.set_attn_implementation("eager")  # the one that returns its weights
    with torch.inference_mode():
        result = model(**_encoded(sentences, tokenizer), output_attentions=True)
    weights = torch.stack(result.cross_attentions).numpy()
    model.set_attn_implementation("sdpa")
    words = [(i, position) for i, sentence in enumerate(sentences) for position in sentence.content]
    return Measured(
        n_sentences=len(sentences),
        n_content_words=len(words),
        loss=result.loss.item(),
        exact_match=1 - len(mistakes) / len(sentences),
        # The decoder reads <s> first: at position i it has read i English words and predicts word i.
        predicting=_share_right(weights, sentences, words, offset=0),
        reading=_share_right(weights, sentences, words, offset=1),
        mistakes=tuple((spell(sentence.french), given) for sentence, given in mistakes),
    )


def _share_right(
    weights: Float[Array, "L B H Q K"], sentences: Sequence[Sentence], words: list[tuple[int, int]], *, offset: int
) -> Float[Array, "L H"]:
    """Return how often the largest weight is on a source of an English word, ``offset`` positions from the word."""
    looked_at = weights.argmax(axis=-1)
    right = [
        np.isin(looked_at[:, i, :, position + offset], list(sentences[i].sources(position))) for i, position in words
    ]
    return np.mean(right, axis=0)


def _batches(tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[Batch]:
    """Yield batches of sentences of similar length, without end."""
    rng = random.Random(seed)  # noqa: S311 - no secret, but the same sentences every time
    while True:
        pool = sorted((grammar.draw(rng) for _ in range(BATCH * POOL)), key=lambda s: len(s.french) + len(s.english))
        batches = [pool[i : i + BATCH] for i in range(0, len(pool), BATCH)]
        rng.shuffle(batches)
        for batch in batches:
            yield _encoded(batch, tokenizer)


def _encoded(sentences: Sequence[Sentence], tokenizer: PreTrainedTokenizerFast) -> Batch:
    """Encode the French to read and the English to write, each with its closing token."""
    ids, closing = tokenizer.get_vocab(), tokenizer.eos_token_id
    french = [[*(ids[word.lower()] for word in sentence.french), closing] for sentence in sentences]
    english = [[*(ids[word] for word in sentence.english), closing] for sentence in sentences]
    inputs = _padded(french, tokenizer.pad_token_id)
    return {
        "input_ids": inputs,
        "attention_mask": (inputs != tokenizer.pad_token_id).long(),
        "labels": _padded(english, IGNORED),
    }


def _padded(rows: list[list[int]], filling: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [filling] * (width - len(row)) for row in rows])


# -------------------------------------------------------------------------------------------- the card


def _card_numbers(measured: Measured, losses: list[float], seconds: float) -> dict[str, Any]:
    """Return the numbers that the app quotes; layers and heads count from 0."""
    french, english = grammar.vocabulary()
    layer, head = np.unravel_index(measured.predicting.argmax(), measured.predicting.shape)
    return {
        "script": "python -m attention.training.translator",
        "seed": SEED,
        "steps": len(losses),
        "batch_size": BATCH,
        "training_sentences": len(losses) * BATCH,
        "seconds": round(seconds),
        "training_loss": round(float(np.mean(losses[-50:])), 4),
        "french_words": len(french),
        "english_words": len(english),
        "max_words": MAX_WORDS,
        "held_out_share": 1 / grammar.HELD_OUT_SHARE,
        "held_out_sentences": measured.n_sentences,
        "held_out_loss": round(measured.loss, 4),
        "exact_match": round(measured.exact_match, 4),
        "content_words": measured.n_content_words,
        "alignment_loss": False,
        "alignment_predicting": measured.predicting.round(4).tolist(),
        "alignment_reading": measured.reading.round(4).tolist(),
        "best_layer": int(layer),
        "best_head": int(head),
        "licence": "MIT",
    }


def _told(numbers: dict[str, Any], measured: Measured) -> dict[str, Any]:
    layer, head = numbers["best_layer"], numbers["best_head"]
    table = "\n".join(
        f"| {i + 1} | {j + 1} | {predicting:.1%} | {reading:.1%} |"
        for i, rows in enumerate(zip(numbers["alignment_predicting"], numbers["alignment_reading"], strict=True))
        for j, (predicting, reading) in enumerate(zip(*rows, strict=True))
    )
    return {
        "layer": layer + 1,
        "head": head + 1,
        "best": numbers["alignment_predicting"][layer][head],
        "share": grammar.HELD_OUT_SHARE,
        "table": table,
        "mistakes": "\n".join(f"- *{french}*: {given}" for french, given in measured.mistakes[:5]) or "- none",
    }


def main() -> None:
    """Train the model, measure it, and write its weights, tokenizer and card."""
    arguments = read_arguments("Train the French to English translator.", STEPS)
    started = time.process_time()
    model, tokenizer, losses = train(arguments.steps)
    seconds = time.process_time() - started
    measured = measure(model, tokenizer, held_out_sentences(N_TESTED))
    numbers = _card_numbers(measured, losses, seconds)
    tokenizer.save_pretrained(arguments.out)
    save("translator-fr-en", arguments.out, model, numbers, _told(numbers, measured))
    report(f"exact match {numbers['exact_match']:.1%}; alignment of the best head {measured.predicting.max():.1%}")
    for text, translation in zip(EXAMPLES, translate(model, tokenizer, EXAMPLES), strict=True):
        report(f"{text}: {translation}")


if __name__ == "__main__":
    main()
