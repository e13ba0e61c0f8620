"""Heads constructed by hand, on two short sentences in one text."""

import numpy as np

from tests.plain_loops import token

PAIR = tuple(
    token(text, position, segment=int(position > 6))
    for position, text in enumerate(["[CLS]", *"abcde", "[SEP]", *"fghij", "[SEP]"])
)
N = len(PAIR)
EVEN = np.full((N, N), 1 / N)
TO_SEPARATORS = np.zeros((N, N))
TO_SEPARATORS[:, [6, 12]] = 0.5
TO_C = np.zeros((N, N))
TO_C[:, 3] = 1
TO_NEXT = np.eye(N, k=1)
TO_NEXT[-1, -1] = 1
TO_PREVIOUS = TO_NEXT[::-1, ::-1]
OWN_SEGMENT = np.array([[float(a.segment == b.segment) for b in PAIR] for a in PAIR])
OWN_SEGMENT /= OWN_SEGMENT.sum(axis=1, keepdims=True)
ELSEWHERE = np.random.default_rng(5).permuted(np.eye(N), axis=1)  # each row to one random token
