"""Measurements of attention: all implementations agree, and memory matches arithmetic."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from attention.core.steps import attend
from attention.experiments.costs import D_HEAD, N_HEADS, N_LAYERS, WIDTH
from attention.experiments.timing import _Layer, anew, best_of, cached, explicit, fused, held_by, measure

pytestmark = pytest.mark.usefixtures("_one_torch_thread")
ROOT = Path(__file__).parents[2]


def vectors(length, seed=0):
    return torch.randn(3, N_HEADS, length, D_HEAD, generator=torch.Generator().manual_seed(seed))


def test_both_ways_are_attention():
    q, k, v = vectors(20)
    wanted = attend(q.numpy(), k.numpy(), v.numpy()).head_outputs
    for way in (explicit, fused):
        np.testing.assert_allclose(way(q, k, v).numpy(), wanted, atol=1e-5)


def test_the_explicit_way_holds_scores_and_weights_at_once():
    q, k, v = vectors(300)
    held, _ = held_by(lambda: explicit(q, k, v))
    # Two arrays of scores, and the queries divided by √d.
    assert held == 4 * (2 * N_HEADS * 300**2 + 300 * WIDTH)


def test_what_is_held_at_most_is_no_sum_of_all_that_was_held():
    x = torch.ones(250, 1000)
    held, found = held_by(lambda: (x + 1).sum() + (x + 2).sum())
    assert 10**6 <= held < 1.1 * 10**6
    assert found.item() == 5 * 250 * 1000


def test_the_fused_way_never_has_all_scores():
    q, k, v = vectors(1000)
    held, _ = held_by(lambda: fused(q, k, v))
    assert held < N_HEADS * 1000**2 * 4 / 4


def test_a_time_is_the_shortest_of_several():
    times = []
    found = best_of(lambda: times.append(sum(range(20_000))))
    assert len(times) >= 3
    assert 0 < found < 0.25


def test_a_decoder_gives_the_same_with_a_cache_and_without():
    numbers = torch.Generator().manual_seed(1)
    layers = [_Layer(*torch.randn(4, WIDTH, WIDTH, generator=numbers) / 16) for _ in range(N_LAYERS)]
    tokens = torch.randn(9, WIDTH, generator=numbers)
    one, other = (torch.stack(list(way(layers, tokens))) for way in (cached, anew))
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    # All tokens at once, from the equation.
    x, mask = tokens, np.triu(np.full((9, 9), -np.inf, dtype=np.float32), k=1)
    for layer in layers:
        heads = ((x @ each).unflatten(1, (N_HEADS, D_HEAD)).transpose(0, 1).numpy() for each in layer[:3])
        outputs = torch.from_numpy(attend(*heads, mask=mask).head_outputs.copy())
        x = x + outputs.transpose(0, 1).flatten(1) @ layer.W_O
    torch.testing.assert_close(one, x, atol=1e-4, rtol=1e-4)


def test_every_way_is_measured_for_every_number_of_tokens():
    found = list(measure((8, 16), (2, 4)))
    assert [(each.way, each.length) for each in found] == [
        *((way, length) for length in (8, 16) for way in ("explicit", "fused", "lstm")),
        *((way, length) for way in ("cached", "anew") for length in (2, 4)),
    ]
    assert all(each.seconds > 0 for each in found)
    assert all(each.difference < 1e-4 for each in found)
    # A number of each of keys and values, in each layer, for each token, of 4 bytes.
    assert [each.n_bytes for each in found[6:8]] == [2 * N_LAYERS * WIDTH * 4 * n for n in (2, 4)]
    # All tokens until there.
    assert found[7].seconds > found[6].seconds


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_the_process_can_take_no_more_than_a_gigabyte():
    script = "from attention.experiments import timing\ntiming._limit_memory()\nbytearray({})\nprint('taken')"
    taken = [
        subprocess.run(
            [sys.executable, "-c", script.format(size)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        for size in (10**8, 2 * 10**9)
    ]
    assert [each.stdout for each in taken] == ["taken\n", ""]
    assert "MemoryError" in taken[1].stderr
