"""Random weights, and every measure of a head in plain loops, as a reference."""

import math

import numpy as np
from hypothesis import strategies as st

from attention.core import masks
from attention.core.trace import Token
from attention.core.words import folded, is_punctuation
from attention.measures.offsets import EVEN

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)


def token(text, position, *, segment=0, is_padding=False):
    is_special = text.startswith("[")
    return Token(text, "" if is_special else text, position, position, 0, is_special, segment, is_padding=is_padding)


def tokens_of(text, segment=0):
    return tuple(token(word, position, segment=segment) for position, word in enumerate(text.split()))


def words(n_tokens):
    return tokens_of(" ".join(f"w{i}" for i in range(n_tokens)))


def random_weights(seed, *shape, sharpness=1.0, mask=None):
    """Random softmax weights; rows in which everything is masked are 0."""
    likelihoods = np.exp(sharpness * np.random.default_rng(seed).normal(size=shape))
    likelihoods = likelihoods if mask is None else np.where(np.isneginf(mask), 0, likelihoods)
    total = likelihoods.sum(axis=-1, keepdims=True)
    return likelihoods / np.where(total == 0, 1, total)


@st.composite
def masked_weights(draw):
    """Weights (H, Q, K), their mask, and the rows to count."""
    n_heads, n_queries, n_keys = draw(st.integers(1, 3)), draw(sizes), draw(sizes)
    seed = draw(seeds)
    rng = np.random.default_rng(seed)
    match draw(st.sampled_from(["none", "causal", "padding", "painted", "painted per head"])):
        case "none":
            mask = None
        case "causal":
            mask = masks.painted(np.triu(np.ones((n_queries, n_keys), bool), k=1))
        case "padding":
            mask = masks.painted(np.broadcast_to(np.arange(n_keys) >= n_keys - 1, (n_queries, n_keys)))
        case "painted":
            mask = masks.painted(rng.random((n_queries, n_keys)) < 0.5)
        case _:
            mask = masks.painted(rng.random((n_heads, n_queries, n_keys)) < 0.5)
    weights = random_weights(seed, n_heads, n_queries, n_keys, sharpness=draw(st.sampled_from([0, 1, 5])), mask=mask)
    return weights, mask, draw(st.none() | st.just(rng.random(n_queries) < 0.7))


def visible(mask, head, query, key):
    if mask is None:
        return True
    return not np.isneginf(mask[head, query, key] if mask.ndim == 3 else mask[query, key])


def counted_rows(head_weights, rows):
    return [q for q, row in enumerate(head_weights) if row.any() and (rows is None or rows[q])]


def average(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def entropy(row):
    return -sum(p * math.log(p) for p in row if p)


def adjusted_r_squared(cells):
    """The adjusted R² of weights by offset, from a list of (offset, weight)."""
    offsets = {offset for offset, _ in cells}
    n, p = len(cells), len(offsets)
    mean = average(a for _, a in cells)
    total = sum((a - mean) ** 2 for _, a in cells)
    if n <= p or total <= n * EVEN**2:
        return 0.0
    means = {offset: average(a for o, a in cells if o == offset) for offset in offsets}
    unexplained = sum((a - means[offset]) ** 2 for offset, a in cells)
    return min(max(1 - unexplained / total * (n - 1) / (n - p), 0), 1)


def js_bits(p, q):
    return (
        sum(
            (a * math.log2(2 * a / (a + b)) if a else 0) + (b * math.log2(2 * b / (a + b)) if b else 0)
            for a, b in zip(p, q, strict=True)
        )
        / 2
    )


def lift(share, even, whole=1.0):
    return min(max((share - even * whole) / (1 - even), 0), 1) if 1 - even > EVEN else 0.0


class Plain:
    """One head on one text, with a truth value for every visible cell."""

    def __init__(self, weights, tokens, seen=None):
        n = len(tokens)
        self.weights = weights.astype(np.float64)
        self.tokens = tokens
        self.seen = np.ones((n, n), bool) if seen is None else np.broadcast_to(seen, (n, n))
        self.rows = [q for q in range(n) if weights[q].any() and not tokens[q].is_padding]
        self.even = [[float(see) / max(sum(row), 1) for see in row] for row in self.seen.tolist()]

    def on(self, is_cell, weights=None):
        """The share of weight on some cells."""
        chosen = self.weights if weights is None else weights
        return average(sum(a for k, a in enumerate(chosen[q]) if is_cell(q, k)) for q in self.rows)

    def lifted(self, is_cell):
        return lift(self.on(is_cell), self.on(is_cell, self.even))

    def same(self, q, k):
        one, other = self.tokens[q], self.tokens[k]
        return q != k and not one.is_special and not other.is_special and folded(one) == folded(other)

    def special(self, k, names):
        return self.tokens[k].is_special and self.tokens[k].text in names

    def measures(self):
        """All measures, by name."""
        n = len(self.tokens)
        n_seen = [sum(row) for row in self.seen.tolist()]
        choice = [q for q in self.rows if n_seen[q] > 1]
        asked = [q for q in self.rows if any(self.same(q, k) and self.seen[q, k] for k in range(n))]
        cells = [(k - q, self.weights[q, k]) for q in self.rows for k in range(n) if self.seen[q, k]]
        return {
            "entropy": average(entropy(self.weights[q]) for q in self.rows),
            "normalised_entropy": average(entropy(self.weights[q]) / math.log(n_seen[q]) for q in choice),
            "mean_distance": average(sum(a * abs(k - q) for k, a in enumerate(self.weights[q])) for q in self.rows),
            "mean_offset": average(sum(a * (k - q) for k, a in enumerate(self.weights[q])) for q in self.rows),
            "previous": average(a for offset, a in cells if offset == -1),
            "itself": average(a for offset, a in cells if offset == 0),
            "next": average(a for offset, a in cells if offset == 1),
            "near": self.on(lambda q, k: abs(k - q) <= 1),
            "first": self.on(lambda q, k: k == 0),
            "classifier": self.on(lambda q, k: self.special(k, ("[CLS]", "<s>"))),
            "separator": self.on(lambda q, k: self.special(k, ("[SEP]", "</s>"))),
            "punctuation": self.on(lambda q, k: is_punctuation(self.tokens[k])),
            "same_word": average(sum(self.weights[q, k] for k in range(n) if self.same(q, k)) for q in asked),
            "positional": adjusted_r_squared(cells),
            **self.patterns(),
        }

    def patterns(self):
        n = len(self.tokens)
        kept = {k for k in range(n) if self.tokens[k].is_special and not self.tokens[k].is_padding}
        ordinary = {k for k in range(n) if not self.tokens[k].is_special}
        segments = [each.segment for each in self.tokens]

        def near(q, k):
            return abs(q - k) <= 1

        def far(q, k):
            return not near(q, k) and k in ordinary

        def within(q, k):
            return far(q, k) and segments[q] == segments[k]

        column_sets = [kept, *({k} for k in range(n))]
        verticals = [self.lifted(lambda q, k, c=columns: k in c) for columns in column_sets]
        columns = column_sets[int(np.argmax(verticals))]
        vertical, diagonal = max(verticals), self.lifted(near)
        mixed = self.lifted(lambda q, k: near(q, k) or k in columns) if min(vertical, diagonal) >= 0.2 else 0.0
        block = 0.0
        if len({segments[k] for k in ordinary}) > 1:
            elsewhere = self.on(far, self.even)
            fraction = self.on(within, self.even) / elsewhere if elsewhere else 0.0
            block = lift(self.on(within), fraction, self.on(far))
        return {
            "vertical": vertical,
            "diagonal": diagonal,
            "vertical_and_diagonal": mixed,
            "block": block,
            "heterogeneous": 1 - max(vertical, diagonal, mixed, block),
        }


def pattern_label(vertical, diagonal, vertical_and_diagonal, block):
    """The rule for the label, in plain code."""
    if vertical_and_diagonal >= 0.5:
        return "vertical + diagonal"
    if max(vertical, diagonal) >= 0.5:
        return "vertical" if vertical >= diagonal else "diagonal"
    return "block" if block >= 0.3 else "heterogeneous"
