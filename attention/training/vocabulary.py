"""The translator's tokenizer: one token per word; unknown words are reported, not guessed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from unicodedata import combining, normalize

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from attention.core.messages import message

BOS, PAD, EOS, UNKNOWN = SPECIAL = "<s>", "<pad>", "</s>", "<unk>"

# First elided words such as "l'", which are separate tokens; then words, which may contain an apostrophe (aujourd'hui)
# or a hyphen (après-midi); then any other single character.
WORDS = r"\b(?:[cdjlmnst]|qu)'|\w+(?:['-]\w+)*|[^\w\s]"


def build(french: Sequence[str], english: Sequence[str]) -> Tokenizer:
    """Make a tokenizer with French words to read, in either case, and English words to write."""
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
    # Joins "Marie 's" and removes the space before a comma or full stop.
    tokenizer.decoder = decoders.WordPiece(cleanup=True)
    return tokenizer


def unknown_words(text: str, folder: Path) -> list[str]:
    """Return the words of a French text that the translator in a folder does not know, each once.

    English words are in its vocabulary, but only to be written: in a French text they are unknown.
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


def refusal(name: str, text: str, folder: Path) -> str:
    """Name the words of a cleaned text that a model does not know, with similar known ones; empty if it knows all."""
    unknown = unknown_words(text, folder)
    if not unknown:
        return ""
    told = message(
        "{name} knows only the French words it was trained on, not {words}.",
        name=name,
        words=_quoted(unknown),
    )
    alike = [(word, closest_words(word, folder)) for word in unknown]
    hints = [
        message("Spelt like “{word}”: {words}.", word=word, words=_quoted(found)) for word, found in alike if found
    ]
    return " ".join([told, *hints, message("The words it knows are listed under the field.")])


def _quoted(found: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in found)


@cache
def known_words(folder: Path) -> tuple[str, ...]:
    """Return the French words that the translator in a folder reads, alphabetically, ignoring accents."""
    tokenizer, first_english = _read(folder)
    found = [word for word, number in tokenizer.get_vocab().items() if len(SPECIAL) <= number < first_english]
    # The tokenizer has its words in an order that differs from run to run.
    return tuple(sorted((word for word in found if word[0].isalpha()), key=lambda word: (_plain(word), word)))


def closest_words(word: str, folder: Path, n: int = 3) -> list[str]:
    """Return at most ``n`` known words with similar spelling, the most similar first."""
    plain = {_plain(known): known for known in known_words(folder)}
    return [plain[found] for found in get_close_matches(_plain(word), plain, n, cutoff=0.65)]


def _plain(word: str) -> str:
    return "".join(each for each in normalize("NFD", word.lower()) if not combining(each))


@cache
def _read(folder: Path) -> tuple[Tokenizer, int]:
    """Return the tokenizer and the ID of the first English word."""
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    return Tokenizer.from_file(str(folder / "tokenizer.json")), len(SPECIAL) + card["french_words"]
