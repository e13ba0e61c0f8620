"""The toy: a model with one attention layer, all of whose weights are written by hand below.

**What a word is.** Each word is 16 numbers, each with a name. The first ten say what kind of word it is; they come from
``assets/toy_lexicon.tsv`` or, for other words, from their ending:

    determiner, pronoun, noun, verb, adjective, adverb, preposition, conjunction: the part of speech,
        1 if the word is one, a fraction if it is one in part (0.5 for *was* in *was becoming*)
    living: 1 for people and animals
    symbol: 1 for punctuation marks, digits and emoji

The last six are its position in the sentence: sine and cosine of a fast, a middle and a slow wave. The products of two
positions' sines and cosines add up to ``cos(frequency · distance)``, so a head can prefer certain distances by the
strengths it gives to the three waves.

**What the heads do.** Everything is linear: a query column weights the features that ask, the key column of the same
number those that answer, and their strengths are multiplied.

    head 1, near by: only the three waves, with strengths that make the score highest at a distance of
        one token, left or right, whatever the words
    head 2, matching meaning: adjectives ask for nouns, nouns for adjectives, verbs for nouns
        (preferably living ones) and so on; of two equally good words, the nearer one gets more
    head 3, reaching far: the waves with their signs reversed, so that the score grows with distance;
        and nouns rather than function words

**What comes out.** Each head copies features of the words it attends to, and W_O adds a fraction of each to the feature
of the same name: after the layer, *creature* is a noun and slightly an adjective. There is no norm and no feed-forward
network, so ``hidden state = inputs + output``.

No weight was chosen for a particular sentence, and words count only through their features. The toy has no knowledge of
grammar or the world: it cannot know that *it* is the animal because it was tired.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from numpy.typing import ArrayLike

from attention.core import masks, steps
from attention.core.ablation import Change, Output
from attention.core.given import printable
from attention.core.interventions import Causes, Intervention, Run, checked
from attention.core.masks import MaskName
from attention.core.messages import message
from attention.core.paths import ASSETS
from attention.core.positions import waves
from attention.core.structure import Structure, Sublayer
from attention.core.text import as_typed, last_words
from attention.core.trace import (
    Cut,
    Embeddings,
    LayerTrace,
    Lengths,
    ModelInfo,
    PositionTable,
    Projections,
    Token,
    Trace,
)
from attention.models.base import Batch, Encoded, check_batch, repr_of

N_HEADS = 3
D_HEAD = 8
MAX_TOKENS = 64
PAD = "[PAD]"
UNKNOWN_ID = -1  # the token_id of padding and of words outside the lexicon

WORD_FEATURES = (
    "determiner", "pronoun", "noun", "verb", "adjective",
    "adverb", "preposition", "conjunction", "living", "symbol",
)  # fmt: skip
POSITION_FEATURES = ("sin fast", "cos fast", "sin middle", "cos middle", "sin slow", "cos slow")
FEATURES = (*WORD_FEATURES, *POSITION_FEATURES)

# Tokens per period of each wave. The frequencies of Vaswani et al. (1 radian per token and slower) are unsuitable: with
# only three waves, head 1 needs one that almost changes sign from token to token, to distinguish a neighbour from the
# word itself. The slowest does not repeat within MAX_TOKENS. Given a slowest period of 100, the other two are those,
# among the round numbers tried, with the widest gap in head 1 between a neighbour's score and all others.
WAVELENGTHS = (2.25, 14.0, 100.0)

# Eight columns per head: the strength of each feature in that dimension of the head's queries, keys or values.

Column = Mapping[str, float]

NEAR_BY_QUERIES: tuple[Column, ...] = (
    {"sin fast": -5},
    {"cos fast": -5},
    {"sin middle": 3},
    {"cos middle": 3},
    {"sin slow": 5},
    {"cos slow": 5},
    {},
    {},
)
NEAR_BY_KEYS: tuple[Column, ...] = (
    {"sin fast": 2},
    {"cos fast": 2},
    {"sin middle": 2},
    {"cos middle": 2},
    {"sin slow": 2},
    {"cos slow": 2},
    {},
    {},
)
# A little of the other wave shifts the middle wave by about half a token: of two equally near nouns, determiners,
# adjectives and prepositions prefer the one that follows, as in English.
MEANING_QUERIES: tuple[Column, ...] = (
    {"determiner": 4, "pronoun": 4, "verb": 4, "adjective": 4, "preposition": 4, "conjunction": 1},
    {"noun": 4},
    {"noun": 2, "pronoun": 4, "adverb": 4, "conjunction": 3, "symbol": 2},
    {"pronoun": 6, "verb": 2, "preposition": -1},
    {"sin middle": 2, "cos middle": 0.4},
    {"cos middle": 2, "sin middle": -0.4},
    {"sin slow": 8},
    {"cos slow": 8},
)
MEANING_KEYS: tuple[Column, ...] = (
    {"noun": 3, "pronoun": 2},  # answers those that ask for a noun
    {"adjective": 3, "determiner": 1},  # ... for an adjective
    {"verb": 3, "adjective": 1},  # ... for a verb
    {"living": 2, "pronoun": -2},  # ... for a person or an animal, not for another pronoun
    {"sin middle": 2},
    {"cos middle": 2},
    {"sin slow": 4},
    {"cos slow": 4},
)
FAR_QUERIES: tuple[Column, ...] = (
    {"sin middle": -3},
    {"cos middle": -3},
    {"sin slow": -5},
    {"cos slow": -5},
    {},
    {},
    {},
    {},
)
FAR_KEYS: tuple[Column, ...] = (
    {"sin middle": 2},
    {"cos middle": 2},
    {"sin slow": 2},
    {"cos slow": 2},
    {"noun": 2, "verb": 1, "adjective": 1, "pronoun": 1},
    {},
    {},
    {},
)

# A bias, not a feature: every word asks for the fifth dimension of head 3.
FAR_QUERY_BIAS = (0, 0, 0, 0, 4, 0, 0, 0)

# The feature in each dimension of a head's values ...
NEAR_BY_VALUES = WORD_FEATURES[:8]
MEANING_VALUES = ("determiner", "pronoun", "noun", "verb", "adjective", "adverb", "living", "symbol")
FAR_VALUES = ("pronoun", "noun", "verb", "adjective", "adverb", "preposition", "living", "symbol")
# ... and the strength with which W_O adds it to the feature of the same name.
NEAR_BY_OUTPUT, MEANING_OUTPUT, FAR_OUTPUT = 0.2, 0.5, 0.3


def _read_only(numbers: ArrayLike) -> Array:
    array = np.array(numbers, np.float32, order="C")
    array.setflags(write=False)
    return array


def _matrix(columns: Iterable[Column]) -> Float[Array, "M N"]:
    columns = tuple(columns)
    return _read_only([[column.get(feature, 0) for column in columns] for feature in FEATURES])


def _copies(features: Iterable[str], strength: float) -> tuple[Column, ...]:
    return tuple({feature: strength} for feature in features)


_Q_BIAS = _read_only((0,) * (2 * D_HEAD) + FAR_QUERY_BIAS)
PROJECTIONS = Projections(
    W_Q=_matrix((*NEAR_BY_QUERIES, *MEANING_QUERIES, *FAR_QUERIES)),
    W_K=_matrix((*NEAR_BY_KEYS, *MEANING_KEYS, *FAR_KEYS)),
    W_V=_matrix((*_copies(NEAR_BY_VALUES, 1), *_copies(MEANING_VALUES, 1), *_copies(FAR_VALUES, 1))),
    # W_O maps the heads' dimensions back to features: hence the transpose.
    W_O=_read_only(
        _matrix(
            (
                *_copies(NEAR_BY_VALUES, NEAR_BY_OUTPUT),
                *_copies(MEANING_VALUES, MEANING_OUTPUT),
                *_copies(FAR_VALUES, FAR_OUTPUT),
            )
        ).T
    ),
    b_Q=_Q_BIAS,
)

STRUCTURE = Structure((Sublayer("self"),))

TOY_INFO = ModelInfo(
    model_id="toy",
    name=message("Toy"),
    architecture=message("hand-written, one attention layer"),
    n_layers=1,
    n_heads=N_HEADS,
    n_key_value_heads=N_HEADS,
    d_model=len(FEATURES),
    d_head=D_HEAD,
    max_tokens=MAX_TOKENS,
    # Only the projections: features of words come from the lexicon or endings.
    n_parameters=sum(
        weights.size for weights in (PROJECTIONS.W_Q, PROJECTIONS.W_K, PROJECTIONS.W_V, PROJECTIONS.W_O, _Q_BIAS)
    ),
    licence="MIT",
    source=message("this project: {file}", file="attention/models/toy.py"),
    summary=message("A model small enough to print: hand-written weights, and named dimensions."),
    default_layer=0,
    default_head=1,
    head_names=(message("nearby"), message("matching meaning"), message("far away")),
    feature_names=FEATURES,
)

# --------------------------------------------------------------------------------------- the words

LEXICON_PATH = ASSETS / "toy_lexicon.tsv"

# For words outside the lexicon; the first matching ending decides, so longer ones come first.
ENDINGS = (
    ("tion", "noun"), ("sion", "noun"), ("ness", "noun"), ("ment", "noun"), ("ship", "noun"), ("hood", "noun"),
    ("ance", "noun"), ("ence", "noun"), ("ism", "noun"), ("ist", "noun living"), ("ity", "noun"), ("eed", "noun"),
    ("ogy", "noun"), ("phy", "noun"),
    ("able", "adjective"), ("ible", "adjective"), ("less", "adjective"), ("ous", "adjective"),
    ("ful", "adjective"), ("ish", "adjective"), ("ive", "adjective"), ("ic", "adjective"), ("al", "adjective"),
    ("ise", "verb"), ("ize", "verb"), ("ify", "verb"), ("ing", "verb"), ("ed", "verb"),
    ("ly", "adverb"),
    ("y", "adjective"),
)  # fmt: skip
PLURAL_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"))
# Clitics after or before an apostrophe; the other side determines the features: cat's, l'Afrique.
SHORTENED_AFTER = frozenset({"s", "d", "m", "re", "ve", "ll"})
SHORTENED_BEFORE = frozenset({"c", "d", "j", "l", "m", "n", "qu", "s", "t"})

# Text in any script is split by kinds of characters, each denoted by a letter: letter, digit, mark, format, joiner,
# apostrophe, point or comma, regional indicator, Chinese character, symbol, blank.
_KIND_OF_CHARACTER = {
    "'": "A",
    "’": "A",
    ".": "P",
    ",": "P",
    "\u200d": "J",  # the zero-width joiner holds emoji together
    "\u200b": " ",  # the zero-width space separates words
    **dict.fromkeys(map(chr, range(0x1F1E6, 0x1F200)), "R"),
    **dict.fromkeys(map(chr, range(0x1F3FB, 0x1F400)), "M"),  # skin tones modify the emoji before them
}
_KIND_OF_CATEGORY = {"L": "L", "M": "M", "N": "D", "Z": " ", "Cc": " ", "Cf": "F"}  # of Unicode; all others are symbols
_WORD = re.compile(
    r"""
      [LD][LDMFJ]*(?:AL[LDMFJ]*|(?<=D)PD[LDMFJ]*)*  # cat, didn't, 12, 3.14, 1,000, 3rd
    | C[MFJ]*                                       # Chinese has no spaces: one word per character
    | RR                                            # a flag is two regional indicators
    | S[MFJ]*(?:(?<=J)S[MFJ]*)*                     # a punctuation mark, or an emoji with all that is joined to it
    | [APRM][MFJ]*                                  # any remaining character
    """,
    re.VERBOSE,
)


def _spans(text: str) -> list[tuple[int, int]]:
    kinds = "".join(map(_kind, text))
    return [match.span() for match in _WORD.finditer(kinds)]


def _kind(character: str) -> str:
    if character in _KIND_OF_CHARACTER:
        return _KIND_OF_CHARACTER[character]
    category = unicodedata.category(character)
    if category == "Lo" and unicodedata.name(character, "").startswith("CJK "):
        return "C"
    return _KIND_OF_CATEGORY.get(category, _KIND_OF_CATEGORY.get(category[0], "S"))


def read_lexicon() -> dict[str, Array]:
    """Read the table of words; each one's features are a vector of the ten WORD_FEATURES."""
    rows = LEXICON_PATH.read_text(encoding="utf-8").splitlines()[1:]  # the first row names the columns
    words_and_features = (row.split("\t") for row in rows)
    return {word: _vector(features) for word, features in words_and_features}


def describe(word: str, lexicon: Mapping[str, Array]) -> Float[Array, " 10"]:
    """Return the features of any word: from the lexicon or, failing that, from its form.

    Numbers, signs and emoji are recognised by their characters, ``cat's`` by ``cat``, ``l'Afrique`` by ``afrique``, and
    every other word by its ending.
    """
    word = _as_in_lexicon(word)
    known = _known(word, lexicon)
    return _guess(_without_shortened(word)) if known is None else known


def is_guessed(word: str, lexicon: Mapping[str, Array]) -> bool:
    """Return whether a word's features come only from its ending, because neither it nor its singular is known."""
    return _known(_as_in_lexicon(word), lexicon) is None


def _known(word: str, lexicon: Mapping[str, Array]) -> Float[Array, " 10"] | None:
    """Describe a word by its characters, its lexicon entry or that of its singular; None if it is unknown."""
    if word in lexicon:
        return lexicon[word]
    if not any(character.isalpha() for character in word):
        return _describe_symbol(word)
    whole = _without_shortened(word)
    for plural, singular in (("", ""), *PLURAL_ENDINGS):
        stem = whole.removesuffix(plural) + singular
        if whole.endswith(plural) and stem in lexicon:
            return lexicon[stem]
    return None


def _without_shortened(word: str) -> str:
    """Strip a clitic before or after an apostrophe."""
    before, _, after = word.partition("'")
    if before in SHORTENED_BEFORE:
        return after
    return before if after in SHORTENED_AFTER else word


def _as_in_lexicon(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'")


def _describe_symbol(word: str) -> Float[Array, " 10"]:
    categories = {unicodedata.category(character) for character in word}
    if any(category.startswith("N") for category in categories):
        return _vector("symbol determiner")  # a number counts, as in "3 cats"
    # So: emoji, which stand for things.
    return _vector("symbol noun=0.5" if "So" in categories else "symbol")


def _guess(word: str) -> Float[Array, " 10"]:
    """Describe an unknown word by its ending, by default as a noun."""
    for ending, features in ENDINGS:
        stem = word.removesuffix(ending)
        # A stem needs more than one letter and a vowel: not red, king, string.
        if stem != word and len(stem) > 1 and re.search("[aeiouy]", stem):
            return _vector(features)
    return _vector("noun")


def _vector(features: str) -> Float[Array, " 10"]:
    """Parse features as in the lexicon: ``noun living``, or ``verb=0.5`` for a fraction."""
    strengths = dict.fromkeys(WORD_FEATURES, 0.0)
    for feature in features.split():
        name, _, strength = feature.partition("=")
        strengths[name] = float(strength or 1)
    return _read_only(list(strengths.values()))


# --------------------------------------------------------------------------------------- the model


class ToyModel:
    """The hand-written model."""

    def __init__(self) -> None:
        table = _position_vectors(MAX_TOKENS)
        table.flags.writeable = False
        self._table = PositionTable(table, is_learned=False)
        lexicon = read_lexicon()
        self._lexicon = MappingProxyType(lexicon)
        self._ids = MappingProxyType({word: index for index, word in enumerate(lexicon)})

    @property
    def info(self) -> ModelInfo:
        """The model's description."""
        return TOY_INFO

    def __repr__(self) -> str:
        """Return the model's ID and sizes."""
        return repr_of(self.info)

    def trace(self, text: str, pair: str | None = None, *, mask: MaskName | Array | None = None) -> Trace:
        """See ``Model.trace``."""
        if pair is not None:
            raise ValueError(message("{name} takes one text, not two.", name=self.info.name))
        encoded = self._encode(text, masks.n_padding(mask))
        additive = masks.build(mask, len(encoded.tokens))
        return self._traced(encoded, lambda inputs: _layer_trace(inputs, additive))

    def run(self, text: str, interventions: Iterable[Intervention] | Intervention, pair: str | None = None) -> Run:
        """Run the model once with interventions; see ``Model.run``."""
        if pair is not None:
            raise ValueError(message("{name} takes one text, not two.", name=self.info.name))
        encoded = self._encode(text, 0)
        found = checked(interventions, self.info.n_layers, self.info.n_heads, len(encoded.tokens))
        return Run(self._traced(encoded, lambda inputs: _changed(_layer_trace(inputs, None), found)), None)

    def _traced(self, encoded: Encoded, run: Callable[[Float[Array, "T M"]], LayerTrace]) -> Trace:
        tokens = encoded.tokens
        word_vectors, position_vectors = self._word_vectors(tokens), _position_vectors(len(tokens))
        inputs = word_vectors + position_vectors
        layer = run(inputs)
        assert layer.added is not None
        return Trace(
            text=encoded.text,
            tokens=tokens,
            layers=(layer,),
            info=TOY_INFO,
            embeddings=Embeddings(words=word_vectors, positions=position_vectors, table=self._table),
            hidden_states=(inputs, inputs + layer.added),
            cut=encoded.cut,
            structure=STRUCTURE,
        )

    def encode(self, text: str) -> Encoded:
        """See ``Model.encode``."""
        return self._encode(text, 0)

    def as_chat(self, text: str) -> str:  # noqa: ARG002 - as with every model
        """Raise ValueError: the toy has no chat template."""
        raise ValueError(message("{model} has no chat template.", model=self.info.name))

    def trace_batch(self, texts: Sequence[Encoded]) -> Batch:
        """See ``Model.trace_batch``; texts run one by one."""
        check_batch(texts)
        layers = []
        for text in texts:
            inputs = self._word_vectors(text.tokens) + _position_vectors(len(text.tokens))
            layers.append(_layer_trace(inputs, None))
        queries, keys, values, outputs = (
            np.stack([getattr(layer, name) for layer in layers])
            for name in ("queries", "keys", "values", "model_output")
        )
        return Batch(tuple(texts), (LayerTrace(None, queries, keys, values, None, layers[0].scale, outputs),), TOY_INFO)

    def next_token(self, trace: Trace) -> None:
        """Return None: the toy does not predict."""

    def unmasked(self, text: str) -> None:
        """Return None: the toy does not predict."""

    def outputs(self, text: str, pair: str | None, changes: Sequence[Change]) -> Iterator[Output]:
        """See ``Model.outputs``."""
        if pair:
            raise ValueError(message("{name} takes one text, not two.", name=self.info.name))
        encoded = self._encode(text, 0)
        positions = _position_vectors(len(encoded.tokens))
        for change in changes:
            change.check(self.info.n_layers, self.info.n_heads, len(encoded.tokens))
            # An occluded token has a position, but no word features.
            tokens = [replace(each, is_special=each.position == change.without) for each in encoded.tokens]
            inputs = self._word_vectors(tokens) + positions
            added = _changed(_layer_trace(inputs, None), change.interventions).added
            assert added is not None
            yield Output(inputs + added)

    def insides(self) -> None:
        """Return None: the toy is written in its own file."""

    def answer(self, trace: Trace) -> None:
        """Return None: the toy is not a classifier."""

    def _encode(self, text: str, n_padding: int) -> Encoded:
        text = as_typed(printable(text))
        spans = _spans(text)
        if not spans:
            raise ValueError(message("There is no visible text. Type at least one word."))
        kept = spans[: MAX_TOKENS - n_padding]
        cut = Cut(len(kept), len(spans), last_words(text[: kept[-1][1]])) if len(kept) < len(spans) else None
        return Encoded(text, self._tokens(text, kept, n_padding), cut)

    def _tokens(self, text: str, spans: Sequence[tuple[int, int]], n_padding: int) -> tuple[Token, ...]:
        words = []
        for position, (start, end) in enumerate(spans):
            word = text[start:end]
            token_id = self._ids.get(_as_in_lexicon(word), UNKNOWN_ID)
            guessed = is_guessed(word, self._lexicon)
            words.append(Token(word.lower(), word, position, position, token_id, start=start, is_guessed=guessed))
        padding = [
            Token(PAD, "", None, position, UNKNOWN_ID, is_special=True, is_padding=True)
            for position in range(len(words), len(words) + n_padding)
        ]
        return (*words, *padding)

    def _word_vectors(self, tokens: Sequence[Token]) -> Float[Array, "T M"]:
        vectors = np.zeros((len(tokens), len(FEATURES)), np.float32)
        for token in tokens:
            if not token.is_special:
                vectors[token.position, : len(WORD_FEATURES)] = describe(token.typed, self._lexicon)
        return vectors


def _position_vectors(n_tokens: int) -> Float[Array, "T M"]:
    vectors = np.zeros((n_tokens, len(FEATURES)), np.float32)
    vectors[:, len(WORD_FEATURES) :] = waves(n_tokens, [2 * math.pi / wavelength for wavelength in WAVELENGTHS])
    return vectors


def _layer_trace(inputs: Float[Array, "T M"], mask: Float[Array, "T T"] | None) -> LayerTrace:
    """Run the layer in float64 without ``attention.core.steps``, so that checks compare independent computations."""
    exact, n_tokens = inputs.astype(np.float64), len(inputs)
    weights, bias = (PROJECTIONS.W_Q, PROJECTIONS.W_K, PROJECTIONS.W_V), _Q_BIAS.reshape(N_HEADS, 1, D_HEAD)
    # One (M, D) matrix for each head.
    by_head = [np.stack(np.split(weight.astype(np.float64), N_HEADS, axis=1)) for weight in weights]
    queries, keys, values = (np.einsum("tm,hmd->htd", exact, each) for each in by_head)
    queries += bias
    outputs = np.zeros((N_HEADS, n_tokens, D_HEAD))
    for head, position in np.ndindex(N_HEADS, n_tokens):
        row = np.zeros(n_tokens) if mask is None else mask[position]
        visible = np.flatnonzero(row > -np.inf)
        if visible.size:  # the output of a word that may not attend to anything stays 0
            scores = keys[head, visible] @ queries[head, position] / math.sqrt(D_HEAD) + row[visible]
            likelihoods = np.exp(scores - scores.max())
            outputs[head, position] = likelihoods @ values[head, visible] / likelihoods.sum()
    added = _projected(outputs)
    lengths = np.linalg.norm(exact + added, axis=1).astype(np.float32)
    return LayerTrace(
        inputs=inputs,
        queries=queries.astype(np.float32),
        keys=keys.astype(np.float32),
        values=values.astype(np.float32),
        mask=mask,
        scale=1 / math.sqrt(D_HEAD),
        model_output=outputs.astype(np.float32),
        kind="masked self" if masks.is_causal(mask) else "self",
        projections=PROJECTIONS,
        added=added.astype(np.float32),
        # The sum leaves the layer unchanged.
        lengths=Lengths(summed=lengths, left=lengths),
    )


def _changed(layer: LayerTrace, interventions: Sequence[Intervention]) -> LayerTrace:
    """Return the layer with interventions applied."""
    early = [each for each in interventions if each.acts_before]
    if early:
        n_heads, n_tokens, _ = layer.queries.shape
        causes = Causes(layer.queries.copy(), np.zeros((n_heads, n_tokens, n_tokens), np.float32), None)
        for each in early:
            each.before(causes)
        mask = causes.mask if causes.mask.any() else None
        heads = steps.attend(causes.queries, layer.keys, layer.values, mask=mask, scale=layer.scale)
        layer = replace(layer, queries=causes.queries, mask=mask, model_output=heads.head_outputs)
    outputs = layer.model_output.copy()
    for each in interventions:
        each.after(layer, outputs)
    added = _projected(outputs.astype(np.float64)).astype(np.float32)
    assert layer.inputs is not None
    lengths = np.linalg.norm(layer.inputs + added, axis=1)
    return replace(
        layer,
        model_output=outputs,
        added=added,
        lengths=Lengths(summed=lengths, left=lengths),
    )


def _projected(outputs: Float[Array, "H T D"]) -> Float[Array, "T M"]:
    return np.einsum("htd,hdm->tm", outputs, PROJECTIONS.W_O.reshape(N_HEADS, D_HEAD, -1).astype(np.float64))
