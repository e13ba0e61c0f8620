"""The translator's tokenizer: one token a word, and a word that it does not know is named, not guessed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

__all__ = ["BOS", "EOS", "PAD", "SPECIAL", "UNKNOWN", "build", "unknown_words"]

BOS, PAD, EOS, UNKNOWN = SPECIAL = "<s>", "<pad>", "</s>", "<unk>"

# First "l'" and its like, cut off from the word behind them; then words, in which an apostrophe (aujourd'hui) or a
# hyphen (après-midi) may stand; then every other sign alone.
WORDS = r"\b(?:[cdjlmnst]|qu)'|\w+(?:['-]\w+)*|[^\w\s]"


def build(french: Sequence[str], english: Sequence[str]) -> Tokenizer:
    """Make a tokenizer of French words, which it reads in any case, and then of English ones, which are written."""
    words = dict.fromkeys([*SPECIAL, *french, *english])
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Lowercase(),
            normalizers.Replace("’", "'"),
            normalizers.Replace("oe", "œ"),  # soeur, oeuf
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORDS), behavior="removed", invert=True)
    closing = tokenizer.token_to_id(EOS)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {EOS}", special_tokens=[(EOS, closing)])
    # Its clean-up writes "Marie 's" together, and puts no space before a comma or a full stop.
    tokenizer.decoder = decoders.WordPiece(cleanup=True)
    return tokenizer


def unknown_words(text: str, folder: Path) -> list[str]:
    """Return the words of a French text, as typed and each once, that the translator in a folder has never read.

    English words are in its vocabulary, but only to be written: as French they are unknown too.
    """
    tokenizer, first_english = _read(folder)
    unknown = tokenizer.token_to_id(UNKNOWN)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    found = (
        text[start:end]
        for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
        if number == unknown or number >= first_english
    )
    return list(dict.fromkeys(found))


@cache
def _read(folder: Path) -> tuple[Tokenizer, int]:
    """Return the tokenizer, and the number of the first word that is English and not French."""
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    return Tokenizer.from_file(str(folder / "tokenizer.json")), len(SPECIAL) + card["french_words"]
