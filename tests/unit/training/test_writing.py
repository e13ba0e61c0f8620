"""The small Transformer that learns a text: its input, its computation, its training, and its output."""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attention.training.jobs import read_frames
from attention.training.writing import Read, Transformer, loss_on, measure, train, write
from attention.training.writing_results import (
    CONTEXT,
    LEAST,
    MOMENTS,
    MOST,
    MOST_SYMBOLS,
    N_HEADS,
    N_SHOWN,
    N_WRITTEN,
    TEMPERATURES,
    Moment,
    bundled,
    divide,
    longest_copied,
    moments,
    parameters,
    read,
    uniform,
    unigram,
)

pytestmark = pytest.mark.usefixtures("_one_torch_thread")

ROOT = Path(__file__).resolve().parents[3]
LINE = "The quick brown fox jumps over the lazy dog.\n"


def made(n_symbols=7, n_layers=2, width=32, seed=0):
    """A Transformer whose biases and norms are no zeros and ones."""
    torch.manual_seed(seed)
    model = Transformer(n_symbols, n_layers, width)
    for each in model.parameters():
        nn.init.normal_(each, std=0.3)
    return model.eval()


def drawn(*shape, n_symbols=7):
    return torch.randint(n_symbols, shape, generator=torch.Generator().manual_seed(5))


# ---------------------------------------------------------------------------------------- what is read


def test_the_story_can_be_learnt_from():
    assert LEAST <= len(bundled()) <= MOST
    assert set(divide(bundled())[1]) <= set(divide(bundled())[0])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" \n\t\u2028" * 900, "is blank"),
        ("ab" * (LEAST // 2 - 1) + "a", "this text has 1,999"),
        ("a" * MOST, "different characters; this text has 1"),
        ("ab" * (MOST // 2) + "a", "too long. Use at most 200,000"),
        ("".join(map(chr, range(0x4E00, 0x4E00 + MOST_SYMBOLS + 1))) * 2, "different characters; this text has 1,001"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_with_a_reason(text, problem):
    with pytest.raises(ValueError, match=problem):
        read(text)


@pytest.mark.parametrize(
    ("line", "as_read"),
    [
        (LINE, LINE),
        ("  two   spaces\r\n", "two spaces\n"),
        ("half a character: \ud83d\n", "half a character: \ufffd\n"),
        ("a family 👨\u200d👩\u200d👧 and a flag 🇫🇷\n", "a family 👨\u200d👩\u200d👧 and a flag 🇫🇷\n"),
        ("\u202eturned\u202c about\n", "turned about\n"),
    ],
)
def test_letters_of_all_scripts_are_kept_and_what_is_no_text_is_not(line, as_read):
    n = LEAST // len(line) * 2
    assert read(f"\n{line * n}\n\n") == (as_read * n).strip()


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=40), st.integers(1, 400))
def test_what_is_read_is_within_the_limits_and_stays_as_it_is(piece, n):
    try:
        found = read(piece * n)
    except ValueError:
        return
    assert LEAST <= len(found) <= MOST
    assert 2 <= len(set(found)) <= MOST_SYMBOLS
    assert read(found) == found
    assert found.encode().decode() == found


# ---------------------------------------------------------------------------------- what it is held against


def test_most_of_a_text_is_learnt_from_and_the_end_is_held_out():
    learnt, held_out = divide("abcdefghij" * 300)
    assert (len(learnt), len(held_out)) == (2700, 300)
    assert learnt + held_out == "abcdefghij" * 300


@given(st.text("abc", min_size=1, max_size=30), st.text("abcd", min_size=1, max_size=30))
def test_how_often_each_character_comes_says_how_likely_it_is(learnt, held_out):
    counts, symbols = Counter(learnt), set(learnt + held_out)
    chances = {symbol: (counts[symbol] + 1) / (len(learnt) + len(symbols)) for symbol in symbols}
    assert math.isclose(sum(chances.values()), 1)
    wanted = -sum(math.log(chances[symbol]) for symbol in held_out) / len(held_out)
    assert math.isclose(unigram(learnt, held_out), wanted)


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_the_longest_passage_that_was_copied(written, learnt):
    passages = (written[start:end] for start in range(len(written) + 1) for end in range(start, len(written) + 1))
    assert longest_copied(written, learnt) == max(len(each) for each in passages if each in learnt)


# ------------------------------------------------------------------------------------- what it works out


def as_torch_has_it(layer, width):
    """The same layer as PyTorch's own module, with the same numbers."""
    same = nn.TransformerEncoderLayer(
        width, N_HEADS, 4 * width, activation="gelu", batch_first=True, norm_first=True, dropout=0.0
    )
    heads = layer.attention
    projections = (heads.W_Q, heads.W_K, heads.W_V)
    same.self_attn.in_proj_weight.data = torch.cat([each.weight for each in projections])
    same.self_attn.in_proj_bias.data = torch.cat([each.bias for each in projections])
    same.self_attn.out_proj.load_state_dict(heads.W_O.state_dict())
    same.linear1.load_state_dict(layer.feed_forward[0].state_dict())
    same.linear2.load_state_dict(layer.feed_forward[2].state_dict())
    same.norm1.load_state_dict(layer.norm_1.state_dict())
    same.norm2.load_state_dict(layer.norm_2.state_dict())
    return same.eval()


@pytest.mark.parametrize("n_tokens", [1, 10, CONTEXT])
def test_its_layers_and_weights_are_those_of_torch(n_tokens):
    model, tokens = made(), drawn(3, n_tokens)
    x = model.embedding(tokens) + model.positions[:n_tokens]
    later = torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)
    with torch.inference_mode():
        logits, weights = model(tokens)
        for layer, found in zip(model.layers, weights, strict=True):
            same = as_torch_has_it(layer, 32)
            normed = same.norm1(x)
            _, wanted = same.self_attn(normed, normed, normed, attn_mask=later, average_attn_weights=False)
            torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
            x = same(x, src_mask=later)
        wanted = model.norm(x) @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("n_symbols", "n_layers", "width"), [(40, 1, 32), (1000, 2, 64), (2, 4, 96)])
def test_its_parameters_are_counted_part_by_part(n_symbols, n_layers, width):
    counted = Counter()
    for name, each in Transformer(n_symbols, n_layers, width).named_parameters():
        (part,) = [
            part for part in ("embedding", "positions", "attention", "feed_forward", "norm", "output") if part in name
        ]
        counted[part.replace("norm", "norms")] += each.numel()
    assert parameters(n_symbols, n_layers, width) == counted


# -------------------------------------------------------------------------------------- what is measured


@pytest.mark.parametrize("n", [2, 40, CONTEXT + 1, 200])
def test_the_loss_is_that_of_every_character_but_the_first(n):
    model, tokens = made(), drawn(n)
    costs = []
    with torch.inference_mode():
        for at in range(1, n):
            piece = (at - 1) // CONTEXT * CONTEXT
            chances = model(tokens[None, piece:at])[0][0, -1].softmax(dim=-1)
            costs.append(-math.log(chances[tokens[at]]))
        assert math.isclose(loss_on(model, tokens), sum(costs) / (n - 1), rel_tol=1e-4)


def test_of_a_long_text_some_pieces_are_measured_from_all_over_it():
    class Counting(Transformer):
        def forward(self, tokens):
            self.n_read = tokens.numel()
            return super().forward(tokens)

    model = Counting(7, 1, 32).eval()
    piece = drawn(CONTEXT)
    once = torch.cat((piece, piece[:1]))
    with torch.inference_mode():
        wanted = loss_on(model, once)
        assert math.isclose(loss_on(model, piece.repeat(3000)), wanted, rel_tol=1e-4)
        assert model.n_read <= 100 * CONTEXT
        # What is different in the second half is not passed over.
        halves = torch.cat((piece.repeat(1500), torch.zeros(1500 * CONTEXT, dtype=torch.long)))
        assert not math.isclose(loss_on(model, halves), wanted, rel_tol=1e-2)


def test_at_the_beginning_all_characters_are_about_equally_likely():
    found = next(train(bundled(), 2, 64, steps=0))
    n_symbols = len(set(bundled()))
    assert found.sizes == (*map(len, divide(bundled())), n_symbols)
    np.testing.assert_allclose(found.losses, math.log(n_symbols), atol=0.1)
    assert uniform(n_symbols) == pytest.approx(math.log(n_symbols))
    assert found.beginning == bundled()[:N_SHOWN]
    assert found.weights.shape == (2, N_HEADS, N_SHOWN, N_SHOWN)
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1, atol=1e-5)


def test_it_soon_knows_more_than_how_often_each_character_comes():
    first, *_, last = train(bundled(), 1, 32, steps=50)
    assert (first.step, last.step) == (0, 50)
    assert first.unigram == pytest.approx(unigram(*divide(bundled())))
    assert first.losses.min() > first.unigram > 0.3 + last.losses.max()


def test_the_same_start_gives_the_same_training():
    one, same, other = (list(train(bundled(), 1, 32, steps=10, seed=seed)) for seed in (3, 3, 4))
    assert [each.step for each in one] == [step for step in MOMENTS if step <= 10]
    for first, second in zip(one, same, strict=True):
        np.testing.assert_array_equal(first.weights, second.weights)
        np.testing.assert_array_equal(first.losses, second.losses)
        assert first.written == second.written
    assert not np.array_equal(one[-1].weights, other[-1].weights)


@pytest.mark.parametrize("line", ["ab", "👨\u200d👩\u200d👧 мир ", "قطة صغيرة ", "\ud800 half\n"])
def test_it_learns_from_any_script(line):
    text = read(line * 2000)
    *_, last = train(text, 1, 32, steps=10)
    assert np.isfinite(last.losses).all()
    assert last.losses[1] < uniform(last.sizes[2])
    for written in last.written:
        assert len(written) == N_WRITTEN
        assert set(written) <= set(text)


# --------------------------------------------------------------------------------------- what it writes


def test_what_it_writes_is_drawn_with_the_probabilities_that_it_gives():
    logits = torch.tensor([0.0, 1.0, 2.0])

    class Fixed(Transformer):
        def forward(self, tokens):
            return logits.expand(*tokens.shape, 3), None

    n = 4000
    for row, temperature in zip(write(Fixed(3, 1, 32), torch.tensor([0]), n), TEMPERATURES, strict=True):
        shares = torch.bincount(row[1:], minlength=3) / (n - 1)
        # Four standard deviations of a share of a half.
        torch.testing.assert_close(shares, (logits / temperature).softmax(dim=-1), atol=4 * 0.5 / n**0.5, rtol=0)


def test_it_goes_on_from_what_it_has_written():
    class Counts(Transformer):
        def forward(self, tokens):
            return 99.0 * nn.functional.one_hot((tokens + 1) % 5, 5).float(), None

    found = write(Counts(5, 1, 32), torch.tensor([3]), 150)
    assert found.tolist() == [[(3 + at) % 5 for at in range(150)]] * len(TEMPERATURES)


def test_it_reads_with_all_parts_on_and_goes_on_learning_with_some_off():
    reading = Read.of(read(LINE * 60))
    model = Transformer(len(reading.symbols), 1, 32)
    first, second = (measure(model, 0, reading) for _ in range(2))
    np.testing.assert_array_equal(first.losses, second.losses)
    assert model.training


# ---------------------------------------------------------------------------------- in its own process


def started(text):
    return subprocess.run(
        [sys.executable, "-m", "attention.training.writing", "--layers", "1"],
        input=text.encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_what_goes_wrong_is_told_without_the_text():
    found = started("my secret")
    assert found.returncode == 1
    assert found.stdout == b""
    assert b"Error" in found.stderr
    assert b"secret" not in found.stderr


@pytest.mark.slow
def test_a_whole_training_is_told_frame_by_frame(tmp_path):
    text = read(LINE * 60)
    found = started(text)
    assert (found.returncode, found.stderr) == (0, b"")
    path = tmp_path / "frames"
    path.write_bytes(found.stdout)
    with path.open("rb") as stream:
        told = moments(list(read_frames(stream)))
    assert [each.step for each in told] == list(MOMENTS)
    assert all(isinstance(each, Moment) and each.beginning == text[:N_SHOWN] for each in told)
    # A line over and over: it writes it at last as it stands.
    assert LINE.strip() in told[-1].written[1]
    assert LINE.strip() not in told[0].written[1]
    assert told[-1].losses.max() < 0.2 < told[0].unigram < told[0].losses.min()
