"""What each step says about this sentence: its own words and numbers, put into the lesson's text."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from itertools import groupby

import numpy as np
from numpy import ndarray as Array

from attention.figures.format import number
from attention.lesson.course import CROSSED, PATCHES, TURNED, Step, biased, divided, unscaled, with_biases
from attention.lesson.guessed import tell_guessed
from attention.lesson.prose import SMALLEST_TOLD, exact, fact, lesson, listed, word
from attention.lesson.scene import Scene
from attention.steps import softmax
from attention.trace import Token
from attention.words import CONTINUES, SPACE, is_punctuation

__all__ = ["formula", "heading", "tell", "tell_weights"]

# A first token that takes more than this share of a head's weight is told to be a sink.
MOST = 0.5
# So many tokens with the same weight are named.
MAX_TIED = 5
# Special tokens that have a sentence of their own, in this order.
_SPECIAL_LESSONS = {
    "[CLS]": "tokens-cls",
    "[SEP]": "tokens-sep",
    "[MASK]": "tokens-mask-token",
}


def tell(step: str, scene: Scene) -> str:
    """Return the text of a step as HTML."""
    return _TELLERS[step](scene)


def heading(step: Step, scene: Scene) -> str:
    """Return the heading of a step; a picture is no sentence, and not every model makes its scores smaller."""
    if _cuts_picture(step, scene):
        return "Cut the picture into patches"
    if step.key != "scale" or scene.attention.scale < 1:
        return step.heading
    return "Leave the scores as they are" if scene.attention.scale == 1 else "Make the scores larger"


def formula(step: Step, scene: Scene) -> str:
    """Return the formula of a step in LaTeX; what the vectors are made of depends on the layer and the model."""
    if _cuts_picture(step, scene):
        return PATCHES
    if step.key == "qkv":
        return _projection_formula(step, scene)
    if scene.is_cross and step.key in CROSSED:
        return CROSSED[step.key]
    if step.key == "embed":
        return _embed_formula(step, scene)
    if step.key == "heads":
        is_plain = scene.attention.projections is not None and not scene.has_bias("O")
        return step.formula.removesuffix(" + b_O") if is_plain else step.formula
    latex = step.formula if scene.attention.bias is None else biased(step.formula)
    divisor = scene.divisor(r"\sqrt{d_k}")
    return divided(latex, divisor) if divisor else unscaled(latex)


def _projection_formula(step: Step, scene: Scene) -> str:
    """Return how queries, keys and values are made: of what, with which biases, and turned or not."""
    plain = TURNED if scene.attention.rotary is not None else step.formula
    latex = CROSSED[step.key] if scene.is_cross else plain
    return with_biases(latex, "".join(filter(scene.has_bias, "QKV")))


def _cuts_picture(step: Step, scene: Scene) -> bool:
    return step.key == "tokens" and scene.info.reads == "picture"


def _embed_formula(step: Step, scene: Scene) -> str:
    norm, deeper = scene.attention.norm, rf"\text{{output of layer {scene.layer}}}"
    if norm is not None:
        return rf"X = \mathrm{{{norm.name}}}({deeper if scene.layer else _parts(scene)})"
    if scene.layer:
        return f"X = {deeper}"
    return rf"X = \mathrm{{LayerNorm}}({_parts(scene)})" if _has_norm(scene) else step.formula


def _parts(scene: Scene) -> str:
    """Return in LaTeX what is added up before the first layer."""
    parts = scene.trace.embeddings
    names = ["patch" if scene.info.reads == "picture" else "word"]
    if parts is not None:
        known = {"position": parts.positions, "segment": parts.segments}
        names += [name for name, part in known.items() if part is not None]
    return " + ".join(rf"E_{{\text{{{name}}}}}" for name in names)


def _has_norm(scene: Scene) -> bool:
    """Tell whether the parts do not simply add up to what enters the layer."""
    inputs, parts = scene.attention.inputs, scene.trace.embeddings
    if inputs is None or parts is None or parts.positions is None:
        return False
    return not np.allclose(parts.words + parts.positions, inputs, atol=1e-5)


def _tokens(scene: Scene) -> str:
    if scene.info.reads == "picture":
        return lesson(
            "tokens-picture",
            model=word(scene.info.name),
            patches=sum(not token.is_special for token in scene.tokens),
            focus=word(scene.names[scene.word]),
            position=scene.word,
        )
    if scene.is_cross:
        return lesson(
            "tokens-cross",
            count=len(scene.tokens),
            keys=sum(not token.is_padding for token in scene.key_tokens),
            focus=word(scene.names[scene.word]),
            position=scene.word,
        )
    text = _tell_count(scene)
    pieces = _pieces(scene)
    if len(pieces) > 1:
        typed = "".join(piece.typed for piece in pieces)
        listed = " + ".join(f"<b>{word(piece.text)}</b>" for piece in pieces)
        is_marked = any(piece.text.startswith(CONTINUES) for piece in pieces)
        text += lesson("tokens-pieces" if is_marked else "tokens-pieces-plain", word=word(typed), pieces=listed)
    if any(SPACE in token.text and SPACE not in token.typed for token in scene.tokens):
        text += lesson("tokens-space")
    parts = [token.text for token in scene.tokens if "\\x" in token.text and "\\x" not in token.typed]
    if parts:
        text += lesson("tokens-bytes", token=word(parts[0]))
    specials = dict.fromkeys(token.text for token in scene.tokens if token.is_special)
    # One that was typed is special too, but the model did not add it.
    added = dict.fromkeys(token.text for token in scene.tokens if token.is_special and token.word is None)
    if added:
        text += lesson("tokens-special", specials=", ".join(map(word, added)))
    text += "".join(lesson(_SPECIAL_LESSONS[special]) for special in specials if special in _SPECIAL_LESSONS)
    text += _tell_padding(scene)
    if scene.trace.is_written:
        text += lesson("tokens-decoder", first=word(scene.labels[0]))
    unknown = dict.fromkeys(token.typed for token in scene.tokens if token.text == "[UNK]")
    if unknown:
        text += lesson("tokens-unk", typed=", ".join(f"<b>{word(typed)}</b>" for typed in unknown))
    return text + tell_guessed(scene) + _note(scene)


def _tell_count(scene: Scene) -> str:
    """Say how many tokens there are: padding is not counted, nor what a decoder begins to write with."""
    names, is_written = scene.names, scene.trace.is_written
    count = sum(not token.is_padding for token in scene.tokens) - is_written
    facts: dict[str, str | int] = {
        "model": word(scene.info.name),
        "count": count,
        "tokens": "token" if count == 1 else "tokens",
        "focus": word(names[scene.word]),
        "position": scene.word,
    }
    if is_written:
        return lesson("tokens-written", first=word(names[0]), **facts)
    if not scene.info.feature_names:
        return lesson("tokens", **facts)
    return lesson("tokens-features", features=_features(scene), source=_source(scene.focus), **facts)


def _source(token: Token) -> str:
    """Return from where a model with a lexicon knows what it says of a token."""
    if token.is_special:
        return "It is no word."
    if token.is_guessed:
        return "Its lexicon does not have this word, so it guesses that from how the word ends."
    if token.token_id >= 0:
        return "It reads that in its lexicon."
    if not any(map(str.isalpha, token.typed)):
        return "It tells that by what kind of sign this is."
    return (
        "Its lexicon does not have this form, but has the word without its ending or without what an apostrophe "
        "joins to it, and it takes that from there."
    )


def _tell_padding(scene: Scene) -> str:
    """Say how many tokens of padding were added, where some were."""
    padding = [token.text for token in scene.tokens if token.is_padding]
    if not padding:
        return ""
    times = "once" if len(padding) == 1 else f"{len(padding)} times"
    return lesson("tokens-pad", pad=word(padding[0]), times=times)


def _note(scene: Scene) -> str:
    """Say what the model's name does not."""
    note = scene.info.note
    return lesson("tokens-note", model=word(scene.info.name), note=html.escape(note)) if note else ""


def _features(scene: Scene) -> str:
    """Return what the model says of the word in focus, where its dimensions have names."""
    parts = scene.trace.embeddings
    if parts is None:
        return ""
    strengths = zip(scene.info.feature_names, parts.words[scene.word], strict=False)
    return ", ".join(f"{word(name)} {fact(float(value))}" for name, value in strengths if value) or "none"


def _pieces(scene: Scene) -> list[Token]:
    """Return the pieces of the word in focus or, if it is whole, of the first word that was cut."""
    groups = [list(group) for key, group in groupby(scene.tokens, lambda token: token.word) if key is not None]
    in_focus = [group for group in groups if scene.focus in group and len(group) > 1]
    return next(iter(in_focus or [group for group in groups if len(group) > 1]), [])


def _embed(scene: Scene) -> str:
    inputs, parts = scene.attention.inputs, scene.trace.embeddings
    if inputs is None:
        return ""
    if scene.is_cross:
        return lesson(
            "embed-cross",
            width=inputs.shape[1],
            count=len(scene.tokens),
            layer=scene.layer + 1,
            keys=len(scene.key_tokens),
            focus=word(scene.names[scene.word]),
            length=_length(inputs[scene.word]),
        )
    if scene.attention.norm is not None:
        return _stream(scene, inputs)
    if scene.layer or parts is None or parts.positions is None:
        cosines = _cosines(inputs, scene.word)
        nearest = int(cosines.argmax())
        return lesson(
            "embed-deeper",
            layer=scene.layer + 1,
            before=scene.layer,
            times="once" if scene.layer == 1 else f"{scene.layer} times",
            width=inputs.shape[1],
            focus=word(scene.names[scene.word]),
            length=_length(inputs[scene.word]),
            nearest=word(scene.names[nearest]),
            cosine=fact(float(cosines[nearest])),
        )
    text = lesson(
        "embed-first",
        width=inputs.shape[1],
        focus=word(scene.names[scene.word]),
        position=scene.word,
        word_length=_length(parts.words[scene.word]),
        position_length=_length(parts.positions[scene.word]),
        length=_length(inputs[scene.word]),
    )
    if parts.segments is not None:
        text += lesson("embed-segment", length=_length(parts.segments[scene.word]))
    text += _tell_lengths(scene, parts.words[scene.word], parts.positions[scene.word])
    return text + lesson("embed-norm") if _has_norm(scene) else text


def _tell_lengths(scene: Scene, one: Array, other: Array) -> str:
    """Say how the lengths of two parts make the length of their sum; nothing if one of them has no direction."""
    both = float(np.linalg.norm(one) * np.linalg.norm(other))
    if not both:
        return ""
    cosine = min(1.0, max(-1.0, float(one @ other) / both))
    return lesson(
        "embed-lengths",
        cosine=fact(cosine),
        angle=fact(math.degrees(math.acos(cosine))),
        together=_length(one + other),
        focus=word(scene.names[scene.word]),
    )


def _stream(scene: Scene, inputs: Array) -> str:
    """Say what enters a layer of a model that norms before attention, and adds to what goes on beside it."""
    assert scene.attention.norm is not None
    assert scene.stream is not None
    facts: dict[str, str | int] = {
        "width": inputs.shape[1],
        "focus": word(scene.names[scene.word]),
        "stream_length": _length(scene.stream[scene.word]),
        "length": _length(inputs[scene.word]),
        "norm": scene.attention.norm.name,
    }
    if not scene.layer:
        return _first_stream(scene, facts)
    cosines = _cosines(inputs, scene.word)
    nearest = int(cosines.argmax())
    return lesson(
        "embed-stream",
        layer=scene.layer + 1,
        before=scene.layer,
        nearest=word(scene.names[nearest]),
        cosine=fact(float(cosines[nearest])),
        **facts,
    )


def _first_stream(scene: Scene, facts: dict[str, str | int]) -> str:
    """Say what enters layer 1, and how the model is told where a token stands."""
    parts = scene.trace.embeddings
    if parts is None or parts.positions is None:
        return lesson("embed-bias" if scene.attention.bias is not None else "embed-rotary", **facts)
    text = lesson(
        "embed-picture" if scene.info.reads == "picture" else "embed-normed",
        position=scene.word,
        word_length=_length(parts.words[scene.word]),
        position_length=_length(parts.positions[scene.word]),
        **facts,
    )
    return text + _tell_lengths(scene, parts.words[scene.word], parts.positions[scene.word])


def _cosines(vectors: Array, row: int) -> Array:
    """Return the cosine of one row with every other; its own counts as the lowest."""
    lengths = np.linalg.norm(vectors, axis=1)
    products = lengths * lengths[row]
    cosines = (vectors @ vectors[row]) / np.where(products == 0, 1, products)
    if len(cosines) > 1:
        cosines[row] = -np.inf
    return cosines


def _qkv(scene: Scene) -> str:
    steps = scene.steps
    if scene.is_cross:
        crossed = lesson(
            "qkv-cross",
            head=scene.head + 1,
            width=scene.info.d_model,
            d_head=scene.d_head,
            focus=word(scene.names[scene.word]),
            query=_length(steps.queries[scene.word]),
            keys=len(scene.key_tokens),
        )
        return crossed + _tell_biases(scene)
    text = lesson(
        "qkv",
        head=scene.head + 1,
        width=scene.info.d_model,
        d_head=scene.d_head,
        focus=word(scene.names[scene.word]),
        query=_length(steps.queries[scene.word]),
        key=_length(steps.keys[scene.word]),
        value=_length(steps.values[scene.word]),
    )
    return text + _tell_biases(scene) + _tell_rotary(scene) + _tell_groups(scene)


def _tell_biases(scene: Scene) -> str:
    """Say which of the projections add a bias, where some do."""
    names = [f"b<sub>{symbol}</sub>" for symbol in "QKV" if scene.has_bias(symbol)]
    return lesson("qkv-bias", biases=listed(names)) if names else ""


def _tell_rotary(scene: Scene) -> str:
    """Say how queries and keys are turned by their positions, where they are."""
    turns = scene.attention.rotary
    if turns is None:
        return ""
    # The angles themselves, from the second row on: at position 1 each is θ.
    thetas = np.arctan2(turns.sines[1], turns.cosines[1]) if len(turns.sines) > 1 else np.zeros(scene.d_head // 2)
    angles = np.degrees(scene.word * thetas.astype(np.float64))
    return lesson(
        "rotary",
        half=scene.d_head // 2,
        focus=word(scene.names[scene.word]),
        position=scene.word,
        fastest=fact(float(angles[0])),
        slowest=exact(float(angles[-1])),
    )


def _tell_groups(scene: Scene) -> str:
    """Say which heads share keys and values, where they do."""
    size, info = scene.info.group_size, scene.info
    if size == 1:
        return ""
    return lesson(
        "groups",
        n_heads=info.n_heads,
        n_groups=info.n_key_value_heads,
        first=scene.group * size + 1,
        last=(scene.group + 1) * size,
        group=scene.group + 1,
    )


def _scores(scene: Scene) -> str:
    row = scene.steps.scores[scene.word]
    best, worst = int(row.argmax()), int(row.argmin())
    text = lesson(
        "scores",
        focus=word(scene.names[scene.word]),
        best=word(scene.key_names[best]),
        best_score=fact(float(row[best])),
        worst=word(scene.key_names[worst]),
        worst_score=fact(float(row[worst])),
    )
    if scene.attention.bias is not None:
        text += lesson(
            "scores-bias",
            focus=word(scene.names[scene.word]),
            best=word(scene.key_names[best]),
            bias=fact(float(scene.attention.bias[scene.head, scene.word, best])),
        )
    return text + _tell_hidden_best(scene, best)


def _tell_hidden_best(scene: Scene, best: int) -> str:
    """Say that the key with the highest score will be hidden, and which is the highest of those that stay."""
    seen = scene.visible[scene.word]
    if seen[best] or not seen.any():
        return ""
    left = int(scene.steps.masked_scores[scene.word].argmax())
    return lesson(
        "scores-hidden",
        best=word(scene.key_names[best]),
        left=word(scene.key_names[left]),
        score=fact(float(scene.steps.scores[scene.word, left])),
    )


def _scale(scene: Scene) -> str:
    name = _scale_lesson(scene)
    divisor = f"<b>{scene.divisor(number(scene.d_head**0.5))}</b>"
    text = lesson(name, divisor=divisor, d_head=scene.d_head) + _tell_spread(scene, name)
    return text if scene.attention.scale == 1 else text + _tell_unscaled(scene)


def _tell_spread(scene: Scene, name: str) -> str:
    """Say how the spread of the scores changes; one score alone has none."""
    steps = scene.steps
    if steps.scores.size < 2:
        return ""
    return lesson(
        name.replace("scale", "scale-spread"),
        before=fact(float(steps.scores.std())),
        after=fact(float(steps.scaled_scores.std())),
    )


def _scale_lesson(scene: Scene) -> str:
    """Return which lesson says what this model divides its scores by."""
    if scene.attention.has_usual_scale:
        return "scale"
    return "scale-none" if scene.attention.scale == 1 else "scale-own"


def _tell_unscaled(scene: Scene) -> str:
    """Say what the softmax of the row would be without scaling; the mask holds in either case."""
    steps, row = scene.steps, scene.word
    focus, n_visible = word(scene.names[row]), int(scene.visible[row].sum())
    best = int(steps.masked_scores[row].argmax())
    if n_visible == len(scene.key_tokens) == 1:
        return lesson("scale-lone", focus=focus)
    if n_visible < 2:
        return lesson("scale-one" if n_visible else "scale-nothing", focus=focus, best=word(scene.key_names[best]))
    hidden = len(scene.key_tokens) - n_visible
    return lesson(
        "scale-softmax-masked" if hidden else "scale-softmax",
        focus=focus,
        best=word(scene.key_names[best]),
        hidden=hidden,
        visible=n_visible,
        weight_unscaled=fact(float(softmax(steps.scores[row] + steps.mask[row])[best])),
        weight_scaled=fact(float(steps.weights[row, best])),
    )


def _mask(scene: Scene) -> str:
    hidden = np.isneginf(scene.steps.mask)
    visible = ~hidden[scene.word]
    name = _mask_lesson(scene, bool(hidden.any()))
    return lesson(
        name,
        focus=word(scene.names[scene.word]),
        visible=int(visible.sum()),
        total=visible.size,
        hidden=int(hidden.sum()),
        padding=", ".join(dict.fromkeys(word(token.text) for token in scene.key_tokens if token.is_padding)),
    )


def _mask_lesson(scene: Scene, hides: bool) -> str:
    if len(scene.key_tokens) == 1 and not hides:
        return "mask-lone"
    has_padding = any(token.is_padding for token in scene.key_tokens)
    if scene.info.is_decoder or scene.trace.is_written:
        without = "mask-decoder" if scene.info.is_decoder else "mask-written"
        return "mask-decoder-padding" if has_padding else without
    if scene.is_cross and not hides:
        return "mask-cross"
    if not hides:
        return "mask-none" if scene.attention.mask is None else "mask-nothing"
    if has_padding:
        return "mask-padding"
    return "mask-causal" if scene.attention.kind == "masked self" else "mask-painted"


def _softmax(scene: Scene) -> str:
    which = "softmax" if scene.visible.all() else "softmax-masked"
    return lesson(which) + tell_weights(scene) + _tell_next(scene) + _tell_sink(scene)


def _tell_next(scene: Scene) -> str:
    """Say of cross-attention which word a row is about: not its own, but the one that is written after it."""
    if not scene.is_cross:
        return ""
    following = scene.names[scene.word + 1 : scene.word + 2]
    told = f"<strong>{word(following[0])}</strong>" if following else "the end"
    return lesson("cross-next", focus=word(scene.names[scene.word]), next=told)


def _tell_sink(scene: Scene) -> str:
    """Return what is known of tokens that take much weight and say little, where the word in focus gives most to one.

    What was measured of such tokens was measured on texts.
    """
    if scene.info.reads == "picture":
        return ""
    row = scene.steps.weights[scene.word]
    best, is_free = int(row.argmax()), scene.visible[scene.word].sum() > 1
    hides_later = scene.info.is_decoder or scene.trace.is_written
    is_first = hides_later and best == 0 and scene.word > 0
    if is_first and _share(scene, 0) > MOST:
        return _sink("weights-first", scene, best)
    if scene.key_tokens[best].is_special:
        return _sink("weights-sink", scene, best)
    return _sink("weights-first-row", scene, best) if is_first and is_free and row[best] > MOST else ""


def _sink(name: str, scene: Scene, best: int) -> str:
    """Return what a lesson says of a token that takes much weight, and where most of the rest goes."""
    row = scene.steps.weights[scene.word]
    itself = None if scene.is_cross else scene.word
    words = [t.position for t in scene.key_tokens if _is_word(t) and t.position not in (itself, best)]
    text = lesson(
        name,
        special=word(scene.key_names[best]),
        share=fact(_share(scene, best)),
        own=fact(float(row[best])),
        rows="all rows" if (scene.visible.sum(axis=1) > 1).all() else "the rows that may look at more than one token",
        focus=word(scene.names[scene.word]),
    )
    second = max(words, key=row.__getitem__, default=best)
    if second == best or row[second] < SMALLEST_TOLD or not _is_word(scene.focus):
        return text
    return text + lesson(
        "weights-words",
        focus=word(scene.names[scene.word]),
        best_word=word(scene.key_names[second]),
        best_word_weight=fact(float(row[second])),
    )


def _is_word(token: Token) -> bool:
    """Tell whether a token is a word or a piece of one: no special token, and no punctuation."""
    return not token.is_special and not is_punctuation(token)


def _share(scene: Scene, key: int) -> float:
    """Return the mean weight of a key over the rows that have a choice: one that sees one token gives it all."""
    free = scene.visible.sum(axis=1) > 1
    return float(scene.steps.weights[free, key].mean()) if free.any() else 0.0


def tell_weights(scene: Scene) -> str:
    """Return in a sentence where the word in focus looks."""
    row = scene.steps.weights[scene.word]
    order = np.argsort(-row, kind="stable")
    facts = {
        "focus": word(scene.names[scene.word]),
        "best": word(scene.key_names[order[0]]),
        "best_weight": fact(float(row[order[0]])),
    }
    visible = int(scene.visible[scene.word].sum())
    if visible < 2:
        return lesson("weights-one" if visible else "weights-none", **facts)
    facts["sum"] = fact(float(row.sum()))
    second = float(row[order[1]])
    if second < SMALLEST_TOLD:
        rest = float(row[order[1:]].sum())
        return lesson(
            "weights-alone",
            smallest=str(SMALLEST_TOLD),
            rest=fact(rest) if rest >= SMALLEST_TOLD else f"less than {SMALLEST_TOLD}",
            **facts,
        )
    alike = [key for key in order if number(float(row[key])) == number(float(row[order[0]]))]
    if len(alike) > 1:
        return lesson("weights-tied", tied=_tied([scene.key_names[key] for key in alike]), **facts)
    return lesson("weights", second=word(scene.key_names[order[1]]), second_weight=fact(second), **facts)


def _tied(names: list[str]) -> str:
    """Name the tokens that get as much as each other, so many of them as a sentence can hold."""
    named = [f"<b>{word(name)}</b>" for name in names[:MAX_TIED]]
    more = len(names) - MAX_TIED
    return listed([*named, f"{more} more"]) if more > 0 else listed(named)


def _sum(scene: Scene) -> str:
    weights = scene.steps.weights[scene.word]
    lengths = weights * np.linalg.norm(scene.steps.values, axis=1)
    best, largest = int(weights.argmax()), int(lengths.argmax())
    return lesson(
        "sum" if best == largest else "sum-other",
        focus=word(scene.names[scene.word]),
        share=f"<b>{100 * float(weights[best]):.0f}</b>",
        best=word(scene.key_names[best]),
        largest=word(scene.key_names[largest]),
        largest_length=fact(float(lengths[largest])),
    )


def _heads(scene: Scene) -> str:
    layer, row = scene.attention, scene.word
    if layer.projections is None:
        return ""
    outputs, bias = scene.all_outputs[:, row], layer.projections.b_O
    by_head = layer.projections.W_O.reshape(*outputs.shape, -1)
    lengths = np.linalg.norm(np.einsum("hd,hdm->hm", outputs, by_head), axis=1)
    largest = int(lengths.argmax())
    facts: dict[str, str | int] = {
        "focus": word(scene.names[scene.word]),
        "change": _length(scene.change[row]),
        "largest": largest + 1,
        "largest_length": fact(float(lengths[largest])),
    }
    text = _tell_joining(scene)
    if scene.stream is None:
        text += lesson("heads-no-inputs", **facts)
    else:
        text += lesson("heads", length=_length(scene.stream[row]), **facts)
    total = float(lengths.sum()) + (0.0 if bias is None else float(np.linalg.norm(bias)))
    if number(total) == number(float(np.linalg.norm(scene.change[row]))):
        return text
    parts = "heads' parts" if bias is None else "heads' parts and of the bias"
    return text + lesson("heads-lengths", parts=parts, total=fact(total))


def _tell_joining(scene: Scene) -> str:
    """Say which matrices each head has of its own, and how their outputs are joined."""
    matrix = "W<sub>O</sub>" + (", with a bias b<sub>O</sub>" if scene.has_bias("O") else "")
    info = scene.info
    if info.group_size == 1:
        return lesson("heads-own", n_heads=info.n_heads, matrix=matrix)
    return lesson(
        "heads-shared", n_heads=info.n_heads, n_groups=info.n_key_value_heads, size=info.group_size, matrix=matrix
    )


def _length(vector: Array) -> str:
    return f"<b>{number(float(np.linalg.norm(vector)))}</b>"


_TELLERS: dict[str, Callable[[Scene], str]] = {
    "tokens": _tokens,
    "embed": _embed,
    "qkv": _qkv,
    "scores": _scores,
    "scale": _scale,
    "mask": _mask,
    "softmax": _softmax,
    "sum": _sum,
    "heads": _heads,
}
