"""The lab Does attention explain? Heads are ablated, words occluded, and weights shuffled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from attention.core.ablation import Change, Effect, Shuffle
from attention.core.interventions import Ablate
from attention.core.messages import message
from attention.core.trace import ModelInfo
from attention.figures import charts
from attention.figures.charts import Chart
from attention.figures.colours import WEIGHT
from attention.lesson.head_context import HeadContext, needs_all_layers
from attention.lesson.matrices import weight_matrix
from attention.lesson.noun_tagger import grammar_tokens
from attention.lesson.prose import exact, fact, lesson, word
from attention.lesson.quiz import Guess, ranked, words_of
from attention.lesson.tables import full_precision
from attention.measures.flow import flow_to, rollout, weighted_norms
from attention.measures.ranks import rank_correlation
from attention.page.blocks import (
    Block,
    Blocks,
    Fold,
    Heading,
    Notice,
    Picture,
    Prose,
    Row,
    Section,
    Setting,
    Table,
    as_table,
    cover,
)
from attention.page.labs.base import Lab, Runs, covered
from attention.page.parameters import Choice, Parameter, Values
from attention.page.settings import HEAD, LAYER, MASK, WORD

Experiment = Literal["heads", "lengths", "words", "shuffled"]
Off = Literal["zero", "mean", "even"]
Only = Literal["one", "rest"]

EXPERIMENT: Parameter[Experiment] = Parameter("experiment", Choice(lambda _: get_args(Experiment)), "heads")
OFF: Parameter[Off] = Parameter("off", Choice(lambda _: get_args(Off)), "zero")
ONLY: Parameter[Only] = Parameter("only", Choice(lambda _: get_args(Only)), "one")

LEAST = 0.01  # the largest negligible effect, as a cosine distance or in probability
MAX_SHUFFLES, MIN_SHUFFLES = 20, 7
# The most multiplications for ablating all heads one by one, and for anything: about 1.5 and 7 seconds.
WORK_OF_ALL, MOST_WORK = 2e10, 1e11
# The limit of layers times tokens³ for computing the maximum flow: a third of a second.
MOST_FLOW = 60_000
MOST_OCCLUDED = 12  # answers to the question about occluded words
# With fewer points, nearly any order is likely by chance: three have the same order in one case of six.
FEWEST_POINTS = 5

_EXPERIMENTS: dict[Experiment, str] = {
    "heads": message("ablated heads"),
    "lengths": message("weights and norms"),
    "words": message("occluded words"),
    "shuffled": message("shuffled weights"),
}
_OFFS: dict[Off, str] = {"zero": message("zeros"), "mean": message("its mean"), "even": message("equal weights")}
_ONLYS: dict[Only, str] = {"one": message("this head alone"), "rest": message("all others of its layer")}

Head = tuple[int, int]


# ------------------------------------------------------------------------------------------------ the runs


def _work(info: ModelInfo, n_tokens: int) -> float:
    """Return roughly the multiplications of one run: 12 d² for each layer and token (Kaplan et al. 2020)."""
    return 12.0 * info.n_layers * info.d_model**2 * n_tokens


def _heads(scene: HeadContext) -> tuple[Head, ...]:
    """Return the heads to ablate one by one: all, those of the layer, or none if even that takes too long."""
    info, work = scene.info, _work(scene.info, len(scene.tokens))
    if work * info.n_layers * info.n_heads <= WORK_OF_ALL and not info.layer_kinds:
        return tuple(np.ndindex(info.n_layers, info.n_heads))
    return tuple((scene.layer, head) for head in range(info.n_heads)) if work * info.n_heads <= MOST_WORK else ()


def _change(info: ModelInfo, head: Head, off: Off, only: Only) -> Change:
    """Return the change that ablates a head, or all others of its layer."""
    layer, _ = head
    others = [(layer, each) for each in range(info.n_heads) if (layer, each) != head]
    how = "uniform" if off == "even" else off
    return Change(tuple(Ablate(each, how) for each in ([head] if only == "one" else others)))


@dataclass(frozen=True, slots=True)
class _HeadEffects:
    """The output of the unchanged model, and the effect of ablating each head."""

    unchanged: Effect
    of: Mapping[Head, Effect]

    @classmethod
    def measure(cls, scene: HeadContext, runs: Runs | None, off: Off, only: Only) -> Self | None:
        """Ablate all heads one by one, or those of the layer; None if that takes too long, or the model is gone."""
        heads = _heads(scene)
        if runs is None or not heads:
            return None
        found = runs.effects(tuple(_change(scene.info, head, off, only) for head in heads))
        return None if found is None else cls(found[0], dict(zip(heads, found[1:], strict=True)))

    def of_layer(self, layer: int) -> dict[int, float]:
        """Return the effect of each head of a layer."""
        return {head: effect.moved for (at, head), effect in self.of.items() if at == layer}

    def count(self) -> int:
        """Return how many heads have an effect."""
        return sum(effect.moved > LEAST for effect in self.of.values())

    @property
    def ordered(self) -> list[Head]:
        """The heads by effect, the largest first."""
        return sorted(self.of, key=lambda head: -self.of[head].moved)


def _format_effect(moved: float) -> str:
    """Return an effect with enough digits to distinguish it from negligible ones."""
    differs = (n for n in range(4, 10) if moved == LEAST or round(moved, n) != LEAST)
    return exact(moved, next(differs, 10))


def _output_name(effect: Effect) -> str:
    return message("the prediction") if effect.likeliest else message("the model's output")


def _measure(effect: Effect) -> str:
    return lesson("explain/of-predictions" if effect.likeliest else "explain/of-vectors")


# ------------------------------------------------------------------------------------- the question


def _guess(_: HeadContext | None) -> None:
    """Ask nothing if no model has run."""


def _measured_guess(values: Values, scene: HeadContext, runs: Runs) -> Guess | None:
    """Ask about the experiment chosen, and of no more than it needs: another head is then no other question."""
    ask = {"heads": _guess_heads, "lengths": _guess_lengths, "words": _guess_words, "shuffled": _guess_shuffled}
    return ask[values[EXPERIMENT]](scene, runs) if scene.use.is_reading else None


def _guess_lengths(scene: HeadContext, _: Runs) -> Guess | None:
    """Ask in how many rows of the layer's heads the largest weight has the largest norm."""
    if scene.attention.projections is None:
        return None
    lengths = weighted_norms(scene.attention)
    same = scene.attention.steps().weights.argmax(axis=-1) == lengths.argmax(axis=-1)
    answers = (message("in more than half"), message("in half or fewer"))
    return Guess(
        lesson("explain/guess-lengths", layer=scene.layer + 1),
        answers,
        lesson("explain/guess-lengths-because", layer=scene.layer + 1, count=int(same.sum()), n=same.size),
        frozenset({0 if same.mean() > 0.5 else 1}),
    )


def _guess_words(scene: HeadContext, runs: Runs) -> Guess | None:
    """Ask which occluded token moves the vector of the one in focus most; None if there are fewer than two.

    All words are offered, as far as there is room, but of special tokens, punctuation marks, determiners, prepositions
    and conjunctions only the one that moves it most, so that its presence reveals nothing.
    """
    moved = _occluded(scene, runs)
    if moved is None or len(moved) < 2:
        return None
    keys = np.flatnonzero(_others(scene)).tolist()
    names = [scene.names[key] for key in keys]
    named = {*words_of(scene.tokens)} - grammar_tokens(scene.tokens) if scene.info.reading.takes_sentences else set()
    order = (-moved).argsort(kind="stable").tolist()
    apart = [index for index in order if keys[index] not in named]
    natural = [*apart[:1], *(index for index in order if keys[index] in named)]
    best = int(moved.argmax())
    because = lesson("explain/guess-words-because", most=word(names[best]), moved=moved[best])
    question = lesson("explain/guess-words", focus=scene.focus_word, unit=scene.info.reading.unit)
    return ranked(question, names, moved.tolist(), because, natural=natural, most=MOST_OCCLUDED)


def _guess_shuffled(scene: HeadContext, runs: Runs) -> Guess | None:
    """Ask whether shuffling the weights of all heads moves the output more than making them equal."""
    found = _shuffles(scene, runs)
    if found is None:
        return None
    unchanged, spread, evens = found
    shuffled, even, what = float(np.median(spread[-1])), float(evens[-1]), _output_name(unchanged)
    moved = {"all": _format_effect(shuffled), "even": _format_effect(even)}
    because = lesson("explain/guess-shuffled-because", what=what, n=spread.shape[1], **moved)
    answers = (_EXPERIMENTS["shuffled"], _OFFS["even"])
    return Guess(lesson("explain/guess-shuffled", what=what), answers, because, frozenset({int(even > shuffled)}))


def _guess_heads(scene: HeadContext, runs: Runs) -> Guess | None:
    """Ask whether the head with the largest weights also has the largest effect, of all ablated heads.

    With a single head there is no question.
    """
    compared = _Compared.measure(scene, runs)
    if compared is None:
        return None
    facts = _facts(compared)
    name = word(scene.info.name)
    is_of_layer = len({layer for layer, _ in compared.sizes}) < scene.info.n_layers
    of = message("layer {layer} of {name}", layer=scene.layer + 1, name=name) if is_of_layer else name
    question = lesson("explain/guess", model=of, noun=scene.info.reading.noun, **facts)
    because = lesson("explain/guess-because-same" if compared.is_same else "explain/guess-because", **facts)
    answers = (
        message("yes: losing it costs most"),
        message("no, but it ranks in the upper half"),
        message("no: it ranks in the lower half"),
    )
    half = (len(compared.sizes) + 1) // 2
    right = 0 if compared.is_same else 1 if compared.rank <= half else 2
    return Guess(question, answers, because, frozenset({right}))


# The rank correlation from which larger weights are called a sign of larger effects; the rule is ours.
_GOOD_SIGN = 0.5


@dataclass(frozen=True, slots=True)
class _Compared:
    """The sizes of weights beside the effects of heads, the head with the largest weights, and its rank by effect.

    A head's size is the largest weight of a row, averaged over rows; ranks count from 1.
    """

    worth: _HeadEffects
    sizes: Mapping[Head, float]
    sharpest: Head
    rank: int
    correlation: float

    @classmethod
    def measure(cls, scene: HeadContext, runs: Runs | None) -> Self | None:
        """Compare all ablated heads; None if there are fewer than two."""
        worth = _HeadEffects.measure(scene, runs, "zero", "one")
        if worth is None or len(worth.of) < 2:
            return None
        layers = {layer: scene.trace.layers[layer].steps().weights for layer, _ in worth.of}
        sizes = {(layer, head): float(layers[layer][head].max(axis=-1).mean()) for layer, head in worth.of}
        sharpest = max(sizes, key=sizes.__getitem__)
        moved = np.array([effect.moved for effect in worth.of.values()])
        ranks = rank_correlation(np.array(list(sizes.values())), moved) if len(sizes) >= FEWEST_POINTS else np.nan
        return cls(worth, sizes, sharpest, worth.ordered.index(sharpest) + 1, float(ranks))

    @property
    def is_same(self) -> bool:
        """Return whether the head with the largest weights also has the largest effect."""
        return self.rank == 1


def _facts(compared: _Compared) -> dict[str, str | int]:
    """Return the facts about the head with the largest weights, and about that with the largest effect."""
    worth, best = compared.worth.of, compared.worth.ordered[0]
    return {
        "n": len(compared.sizes),
        "what": _output_name(compared.worth.unchanged),
        "layer": compared.sharpest[0] + 1,
        "head": compared.sharpest[1] + 1,
        "size": fact(compared.sizes[compared.sharpest]),
        "moved": _format_effect(worth[compared.sharpest].moved),
        "rank": compared.rank,
        "best_layer": best[0] + 1,
        "best": best[1] + 1,
        "largest": _format_effect(worth[best].moved),
    }


def _conclusion(scene: HeadContext, runs: Runs | None) -> Blocks:
    compared = _Compared.measure(scene, runs)
    if compared is None:
        return ()
    noun = scene.info.reading.noun
    told = lesson(
        "explain/showed-same" if compared.is_same else "explain/showed",
        noun=noun,
        best_size=fact(compared.sizes[compared.worth.ordered[0]]),
        **_facts(compared),
    )
    if not np.isnan(rho := compared.correlation):
        told += lesson("explain/agreed" if rho >= _GOOD_SIGN else "explain/differed", rho=fact(rho))
    return Heading(message("What this {noun} showed", noun=noun)), Prose(told + lesson("explain/verdict"))


# -------------------------------------------------------------------------------------- the content


def _content(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    if scene is None:
        return ()
    if not scene.use.is_reading:
        told = message("This lab ablates heads of self-attention over the source. Choose the encoder.")
        return (Notice(told),)
    if found := _other_experiment(values, scene, runs):
        return (_choice(values), *found, Prose(lesson("explain/verdict")))
    off, only = values[OFF], values[ONLY]
    worth = _HeadEffects.measure(scene, runs, off, only)
    return (
        _choice(values),
        *_ablation(scene, worth, off, only),
        *(() if worth is None else _effects_table(scene, worth, off, only)),
        *_conclusion(scene, runs),
    )


def _before(values: Values, scene: HeadContext | None, runs: Runs | None) -> Blocks:
    """Return the same without what answers the question: weights, one row and shuffles alone do not."""
    if scene is None or not scene.use.is_reading:
        return _content(values, scene, runs)
    found = covered(_other_experiment(values, scene, runs), but=("own_weights", "row_shares", "last_row", "shuffles"))
    return (
        _choice(values),
        *(found or (*_opening(scene, values[OFF], values[ONLY]), _weights_beside(scene, cover("worth")))),
    )


def _choice(values: Values) -> Setting:
    return Setting(EXPERIMENT, message("Experiment"), values[EXPERIMENT], _EXPERIMENTS)


def _other_experiment(values: Values, scene: HeadContext, runs: Runs | None) -> Blocks:
    """Return an experiment other than ablation; () if none is chosen."""
    match values[EXPERIMENT]:
        case "lengths":
            return _lengths(scene)
        case "words":
            return _words(scene, runs)
        case "shuffled":
            return _shuffled(scene, runs)
        case _:
            return ()


def _missing(scene: HeadContext, n_runs: int) -> Notice:
    facts: dict[str, str | int] = {"name": scene.info.name, "n": len(scene.tokens), "times": n_runs}
    if n_runs * _work(scene.info, len(scene.tokens)) <= MOST_WORK:
        return Notice(message("{name} can't be run again now. Reload the page.", **facts))
    return Notice(message("{name} would have to read {n} tokens {times} times: too slow. Shorten the text.", **facts))


def _effects(scene: HeadContext, runs: Runs | None, changes: tuple[Change, ...]) -> tuple[Effect, ...] | None:
    """Return the effects of no change and of each change; None if that takes too long, or the model is gone."""
    if runs is None or len(changes) * _work(scene.info, len(scene.tokens)) > MOST_WORK:
        return None
    return runs.effects(changes)


# ------------------------------------------------------------------------------------ ablated heads


def _ablation(scene: HeadContext, worth: _HeadEffects | None, off: Off, only: Only) -> Blocks:
    if worth is None:
        return (*_opening(scene, off, only), _missing(scene, scene.info.n_heads))
    own = worth.of[scene.layer, scene.head]
    told = (lesson("explain/even") if off == "even" else "") + _tell_head(scene, worth, only)
    if own.likeliest:
        told += lesson(
            "explain/predicted",
            first=word(worth.unchanged.likeliest),
            probability=fact(worth.unchanged.kept),
            kept=fact(own.kept),
            likeliest=word(own.likeliest),
        )
    drawn = Picture("worth", _chart(scene, worth), sets={"layer": LAYER, "head": HEAD})
    return (
        *_opening(scene, off, only),
        _weights_beside(scene, drawn),
        Prose(told + _measure(own)),
        Prose(lesson("explain/heads-caveat"), "detail"),
    )


def _opening(scene: HeadContext, off: Off, only: Only) -> Blocks:
    knobs = (
        Setting(ONLY, message("Ablate"), only, _ONLYS),
        Setting(OFF, message("Replace its output with"), off, _OFFS),
    )
    return (Heading(scene.place), Section("knobs", knobs, is_line=True))


def _weights_beside(scene: HeadContext, worth: Block) -> Row:
    """Return the weights of the head, and its effect beside them."""
    # The output depends on all words: none is in focus.
    weights = weight_matrix(scene, "head_weights", message("weights α"), scene.steps.weights)
    return Row(((Picture("head_weights", replace(weights, focus_row=None)),), (worth,)), (4, 5))


def _tell_head(scene: HeadContext, worth: _HeadEffects, only: Only) -> str:
    own, beside = worth.of[scene.layer, scene.head], worth.of_layer(scene.layer)
    best = min(beside, key=beside.__getitem__)
    facts: dict[str, str | int] = {**scene.numbers, "what": _output_name(own), "moved": _format_effect(own.moved)}
    if only == "rest":
        return lesson("explain/rest", best=best + 1, smallest=_format_effect(beside[best]), **facts)
    return lesson("explain/one", n=len(worth.of), count=worth.count(), **facts)


def _chart(scene: HeadContext, worth: _HeadEffects) -> Chart:
    """Return a point for each head of all layers, or a bar for each of one layer."""
    values = np.array([effect.moved for effect in worth.of.values()])
    title, n_layers = message("how far {what} moves", what=_output_name(worth.unchanged)), scene.info.n_layers
    if n_layers > 1 and len(worth.of) == n_layers * scene.info.n_heads:
        return Chart(charts.layers(values.reshape(n_layers, -1), title, "", (scene.layer, scene.head), is_share=False))
    names = [message("head {head}", head=head + 1) for _, head in worth.of]
    at = list(worth.of).index((scene.layer, scene.head))
    return Chart(charts.lengths(names, values, title, heads=tuple(worth.of), current=at))


def _effects_table(scene: HeadContext, worth: _HeadEffects, off: Off, only: Only) -> Blocks:
    is_whole = len(worth.of) == scene.info.n_layers * scene.info.n_heads
    told = lesson("explain/layer-only", model=word(scene.info.name), layer=scene.layer + 1)
    table = Table("heads_table", partial(_table_of_heads, worth, off, only), file="heads")
    return (*(() if is_whole else (Prose(told),)), Fold("worth_fold", message("Every head, sorted"), (table,)))


def _table_of_heads(worth: _HeadEffects, off: Off, only: Only) -> dict[str, list[str]]:
    heads, effects = worth.ordered, [worth.of[head] for head in worth.ordered]
    table = {
        message("layer"): [str(layer + 1) for layer, _ in heads],
        message("head"): [str(head + 1) for _, head in heads],
        message("ablated"): [_ONLYS[only]] * len(heads),
        message("replaced with"): [_OFFS[off]] * len(heads),
        message("{what} moves by", what=_output_name(worth.unchanged)): [repr(effect.moved) for effect in effects],
    }
    if worth.unchanged.likeliest:
        table |= {
            message("probability of {first}", first=worth.unchanged.likeliest): [repr(each.kept) for each in effects],
            message("new likeliest"): [each.likeliest for each in effects],
        }
    return table


# ---------------------------------------------------------------------------------------- weights and norms


def _lengths(scene: HeadContext) -> Blocks:
    """Compare the weights with the norms of the weighted vectors."""
    if scene.attention.projections is None:
        told = message("The output matrix of {name} is unknown.", name=scene.info.name)
        return (Heading(scene.place), Notice(told))
    lengths = weighted_norms(scene.attention)[scene.head]
    totals = lengths.sum(axis=-1, keepdims=True)
    shares = (lengths / np.where(totals == 0, 1, totals)).astype(np.float32)
    weights, row = scene.steps.weights, scene.word
    drawn = (
        ("own_weights", message("weights α"), weights),
        ("length_shares", message("shares of the norms ‖α f(x)‖"), shares),
    )
    pictures = tuple(
        (Picture(name, weight_matrix(scene, name, title, each), sets={"row": WORD}, is_selectable=True),)
        for name, title, each in drawn
    )
    chart = charts.shares(
        weights[row],
        shares[row],
        scene.key_names,
        message("the row of “{word}”", word=scene.names[row]),
        message("Each token's weight and share of the norms."),
        series=(message("weight"), message("share of the norms")),
    )
    return (
        Heading(scene.place),
        Row(pictures, gap="small"),
        Picture("row_shares", Chart(chart)),
        Prose(lesson("explain/lengths") + _tell_lengths(scene, lengths, shares)),
        as_table("lengths", partial(_table_of_lengths, scene, lengths, shares), file="lengths"),
    )


def _tell_lengths(scene: HeadContext, lengths: Float[Array, "Q K"], shares: Float[Array, "Q K"]) -> str:
    weights, row = scene.steps.weights, scene.word
    best, longest = int(weights[row].argmax()), int(shares[row].argmax())
    told = lesson(
        "explain/lengths-row-same" if best == longest else "explain/lengths-row",
        focus=scene.query_word(row),
        best=scene.key_word(best),
        weight=weights[row, best],
        share=shares[row, best],
        longest=scene.key_word(longest),
        longest_weight=weights[row, longest],
        longest_share=shares[row, longest],
    )
    signs = np.array([token.is_special for token in scene.key_tokens])
    if signs.any():
        told += lesson(
            "explain/lengths-special",
            signs=", ".join(word(name) for name, is_sign in zip(scene.key_names, signs, strict=True) if is_sign),
            weight=weights[:, signs].sum(axis=-1).mean(),
            share=shares[:, signs].sum(axis=-1).mean(),
        )
    rho, n = rank_correlation(weights[scene.visible], lengths[scene.visible]), int(scene.visible.sum())
    if n >= FEWEST_POINTS and not np.isnan(rho):
        same = int((weights.argmax(axis=-1) == lengths.argmax(axis=-1)).sum())
        told += lesson("explain/lengths-ranks", n=n, rho=fact(rho), count=same, rows=len(weights))
    return told


def _table_of_lengths(
    scene: HeadContext, lengths: Float[Array, "Q K"], shares: Float[Array, "Q K"]
) -> dict[str, list[str]]:
    queries, keys = np.nonzero(scene.visible)
    columns = (
        (message("weight"), scene.steps.weights),
        ("‖α f(x)‖", lengths),
        (message("share of the norms"), shares),
    )
    return {
        message("from"): [scene.names[query] for query in queries],
        message("to"): [scene.key_names[key] for key in keys],
        **{name: full_precision(values[queries, keys]) for name, values in columns},
    }


# ------------------------------------------------------------------------------------ occluded words


def _words(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Compare rollout, flow and raw weights with the effect of occluding each token on the one in focus."""
    others = _others(scene)
    opening = (Heading(message("What “{word}” depends on", word=scene.names[scene.word])),)
    if not others.any():
        return (*opening, Notice(message("This token may attend to no other. Choose another.")))
    if missing := needs_all_layers(scene.info):
        return (*opening, Notice(missing))
    moved = _occluded(scene, runs)
    if moved is None:
        return (*opening, _missing(scene, int(others.sum())))
    told = _by_weights(scene)
    rows = {name: each[-1][others] for name, each in told.items()}
    names = [name for name, is_other in zip(scene.names, others, strict=True) if is_other]
    given = charts.lengths(names, rows["raw"], message("weight in the last layer")).update_traces(marker_color=WEIGHT)
    effects = charts.lengths(names, moved, message("how far the vector moves, relative to its norm"))
    return (
        *opening,
        Row(((Picture("last_row", Chart(given)),), (Picture("occluded", Chart(effects)),))),
        Prose(_tell_words(scene, names, moved, rows["raw"])),
        as_table("words", partial(_table_of_words, names, moved, rows, scene.layer), file="words"),
        *_ranks(scene, told, moved),
    )


def _tell_words(scene: HeadContext, names: Sequence[str], moved: Array, weights: Array) -> str:
    """Say whether the token with the largest weight also has the largest effect, and how tokens were occluded."""
    best, most = int(weights.argmax()), int(moved.argmax())
    told = lesson(
        "explain/words-same" if best == most else "explain/words-other",
        focus=scene.focus_word,
        best=word(names[best]),
        weight=weights[best],
        best_moved=moved[best],
        most=word(names[most]),
        moved=moved[most],
    )
    return told + lesson(scene.info.reading.lesson("explain/words"))


def _ranks(scene: HeadContext, told: Mapping[str, Array], moved: Array) -> Blocks:
    """Return the rank correlation of weights, rollout and flow with the effects, folded; () if they have no order."""
    others = _others(scene)
    correlations = {name: [rank_correlation(layer[others], moved) for layer in each] for name, each in told.items()}
    raw, rolled = correlations["raw"], correlations["rollout"]
    if len(moved) < FEWEST_POINTS or np.isnan(raw[-1] + rolled[-1]):
        return ()
    words = lesson("explain/words-ranks", first=fact(raw[0]), raw=fact(raw[-1]), rolled=fact(rolled[-1]))
    points = []
    if "flow" in correlations:
        points = [(message("flow to this layer"), scene.layer, correlations["flow"][-1])]
        flow, there = fact(correlations["flow"][-1]), fact(rolled[scene.layer])
        words += lesson("explain/words-flow", layer=scene.layer + 1, flow=flow, rolled=there)
    ranking = charts.by_layer(
        ((message("weights of this layer"), np.array(raw)), (message("rollout to this layer"), np.array(rolled))),
        message("rank correlation with occlusion"),
        message("Rank correlations with occlusion, by layer."),
        (-1.0, 1.0),
        points,
    )
    found = Picture("ranks", Chart(ranking)), Prose(words), Prose(lesson("explain/words-caveat"), "detail")
    return (Fold("ranks_fold", message("All layers, with rollout"), found),)


def _occluded(scene: HeadContext, runs: Runs | None) -> Float[Array, " N"] | None:
    """Return how far the vector in focus moves without each of the others; None if it is not known for each."""
    if needs_all_layers(scene.info):
        return None
    keys = np.flatnonzero(_others(scene))
    found = _effects(scene, runs, tuple(Change(without=int(key)) for key in keys))
    return None if found is None else np.array([effect.tokens[scene.word] for effect in found[1:]])


def _others(scene: HeadContext) -> Bool[Array, " T"]:
    """Mark the tokens that can be occluded: all visible ones but the one in focus, and a picture's special tokens."""
    kept = [token.is_special and scene.info.reading.is_laid_out for token in scene.tokens]
    others: Array = scene.visible[scene.word] & ~np.array(kept)
    others[scene.word] = False
    return others


def _by_weights(scene: HeadContext) -> dict[str, Float[Array, "L T"]]:
    """Return the weights' account of the row in focus: the mean of each layer's heads, and rollout.

    The maximum flow up to the chosen layer is included for short texts.
    """
    weights = np.stack([layer.steps().weights.mean(axis=0, dtype=np.float64) for layer in scene.trace.layers])
    found = {"raw": weights[:, scene.word], "rollout": rollout(weights)[:, scene.word]}
    if (scene.layer + 1) * len(scene.tokens) ** 3 <= MOST_FLOW:
        found["flow"] = flow_to(weights[: scene.layer + 1], scene.word)[None]
    return found


def _table_of_words(names: Sequence[str], moved: Array, rows: dict[str, Array], layer: int) -> dict[str, list[str]]:
    columns = {
        message("moves it by"): moved,
        message("weight in the last layer"): rows["raw"],
        message("rollout"): rows["rollout"],
    }
    if "flow" in rows:
        columns[message("flow to layer {layer}", layer=layer + 1)] = rows["flow"]
    return {message("occluded"): list(names)} | {name: full_precision(column) for name, column in columns.items()}


# ------------------------------------------------------------------------------------ shuffled weights


def _n_shuffles(scene: HeadContext) -> int:
    return int(np.clip(WORK_OF_ALL / (6 * _work(scene.info, len(scene.tokens))), MIN_SHUFFLES, MAX_SHUFFLES))


def _shuffles(scene: HeadContext, runs: Runs | None) -> tuple[Effect, Float[Array, "3 N"], Float[Array, " 3"]] | None:
    """Shuffle the weights of one head, of its layer, and of all heads, and make them equal.

    Returns the unchanged output, and how far it moves each time; None if that takes too long, or the model is gone.
    """
    n, all_heads = _n_shuffles(scene), tuple(range(scene.info.n_heads))
    sizes = (
        {scene.layer: (scene.head,)},
        {scene.layer: all_heads},
        dict.fromkeys(scene.info.attention_layers, all_heads),
    )
    shuffles = [
        Change(tuple(Shuffle(layer, heads, seed) for layer, heads in size.items()))
        for size in sizes
        for seed in range(n)
    ]
    equal = [
        Change(tuple(Ablate((layer, head), "uniform") for layer, heads in size.items() for head in heads))
        for size in sizes
    ]
    found = _effects(scene, runs, (*shuffles, *equal))
    if found is None:
        return None
    moved = np.array([effect.moved for effect in found[1:]])
    return found[0], moved[: 3 * n].reshape(3, n), moved[3 * n :]


def _shuffled(scene: HeadContext, runs: Runs | None) -> Blocks:
    """Show the effect of shuffling the weights: of one head, of its layer, and of all."""
    opening = (Heading(scene.place),)
    found = _shuffles(scene, runs)
    if found is None:
        return (*opening, _missing(scene, 3 * _n_shuffles(scene)))
    unchanged, spread, evens = found
    medians = np.median(spread, axis=1)
    names = (message("this head"), message("this layer"), message("all layers"))
    what = _output_name(unchanged)
    head, layer, every, even = map(_format_effect, (*medians.tolist(), float(evens[2])))
    facts = {"head": head, "layer": layer, "all": every, "even": even}
    told = lesson("explain/shuffled", n=spread.shape[1], what=what, **facts) + _measure(unchanged)
    chart = charts.spots(names, spread, medians, message("how far {what} moves", what=what))
    return (
        *opening,
        Picture("shuffles", Chart(chart)),
        Prose(told),
        Prose(lesson("explain/shuffled-caveat"), "detail"),
        as_table("shuffles", partial(_table_of_shuffles, names, spread, evens), file="shuffles"),
    )


def _table_of_shuffles(names: Sequence[str], shuffles: Float[Array, "3 N"], evens: Array) -> dict[str, list[str]]:
    rows = [*(str(seed + 1) for seed in range(shuffles.shape[1])), message("equal weights")]
    return {message("shuffle"): rows} | {
        name: full_precision((*row, even)) for name, row, even in zip(names, shuffles, evens, strict=True)
    }


def _idle(values: Values, _: HeadContext) -> tuple[Parameter[Any], ...]:
    """Return the idle choices: outputs depend on all words, and a word depends on all heads."""
    experiment = values[EXPERIMENT]
    if experiment == "lengths":
        return ()
    return (HEAD,) if experiment == "words" else (WORD,)


LAB = Lab(
    address="explain",
    title=message("Does attention explain?"),
    purpose=message("Ablate heads, occlude words, shuffle weights, and see whether attention predicted what matters."),
    knobs=(EXPERIMENT, OFF, ONLY),
    guess=_guess,
    measured_guess=_measured_guess,
    content=_content,
    before=_before,
    leaves_out=(MASK,),
    idle=_idle,
    waiting=message("Running the model …"),
    minutes=10,
)
