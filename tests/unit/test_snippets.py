import io
import re
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

from attention.core import steps as equation
from attention.core.kinds import CROSS
from attention.core.positions import Rotary, apply_rotary
from attention.core.trace import LayerTrace, Projections, Token
from attention.lesson.code_context import CodeContext
from attention.lesson.head_context import HeadContext
from attention.lesson.snippets import LIBRARIES
from attention.lesson.steps import keys, step_of
from attention.models import load
from tests.pairwise import pairwise
from tests.unit.saying import says

MAX_CHARACTERS = 200_000
MAX_LINES = 30
HOSTILE = 'He said: "it\'s 5% \\n {x} {} $Q ${K}" \\'
# Name, text and mask.
CASES = {
    "usual": ("The cat sat on the mat", None),
    "one word": ("cat", None),
    "quotes, backslashes, braces and dollars": (HOSTILE, None),
    "emoji and other scripts": ("👩‍💻 says 🙂: naïve 日本 שלום", None),
    "causal": ("The cat sat on the mat", "causal"),
    "one word, causal": ("cat", "causal"),
    "padding": ("The old cat sat", "padding"),
    "twenty words": (" ".join(["the quick brown fox"] * 5), "causal"),
}
# Each step once, with the libraries taking turns: for what depends on the text and not on the library.
IN_TURN = [(step, LIBRARIES[number % len(LIBRARIES)]) for number, step in enumerate(keys())]
# The variable that each step makes.
RESULTS = {
    "tokens": "ids",
    "embed": "X",
    "qkv": "Q",
    "scores": "scores",
    "scale": "scaled_scores",
    "mask": "masked_scores",
    "softmax": "weights",
    "sum": "output",
    "heads": "delta",
}


@pytest.fixture(scope="module")
def models(minilm, smollm2):
    return {"toy": load("toy"), "minilm-l6": minilm, "smollm2-135m": smollm2}


@pytest.fixture(scope="module")
def traces(models):
    """Every case, run once by each model."""
    return {
        (model_id, name): model.trace(text, mask=mask)
        for model_id, model in models.items()
        for name, (text, mask) in CASES.items()
    }


@pytest.fixture(scope="module")
def longest(minilm):
    return minilm.trace("cat mat " * 255, mask="causal")


@pytest.fixture(scope="module")
def toy(traces):
    return traces["toy", "usual"]


def snippet(step, library, trace, layer, head, word, column=None):
    """The code of a step at a place in a trace, with the word in focus as the row that is printed."""
    return step_of(step).code(CodeContext(library, HeadContext(trace, layer, head, word), word, column))


def run(code):
    """Run pasted code in an empty namespace; return its variables and what it printed."""
    namespace, printed = {}, io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), namespace)
    return namespace, printed.getvalue().rstrip("\n")


def recorded(step, trace, layer, head):
    """What the trace itself says of a step."""
    layer_trace, steps = trace.layers[layer], trace.layers[layer].head(head)
    if step == "tokens":
        return np.array([token.token_id for token in trace.tokens])
    if step == "embed":
        if layer:
            return layer_trace.inputs
        parts = trace.embeddings
        return sum(part for part in (parts.words, parts.positions, parts.segments) if part is not None)
    if step == "heads":
        return layer_trace.output()
    arrays = {
        "qkv": steps.queries,
        "scores": steps.scores,
        "scale": steps.scaled_scores,
        "mask": steps.masked_scores,
        "softmax": steps.weights,
        "sum": steps.head_outputs,
    }
    return arrays[step]


def check(step, library, trace, layer=0, head=0, word=0):
    """Run a snippet and compare what it makes, prints and says with the trace; return code and variables."""
    code = snippet(step, library, trace, layer, head, word)
    assert len(code) <= MAX_CHARACTERS
    assert code.count("\n") <= MAX_LINES
    namespace, printed = run(code)
    ours = np.asarray(namespace[RESULTS[step]])
    wanted = recorded(step, trace, layer, head)
    said = code.splitlines()[-1].split("  # ")[1]
    if step == "tokens":
        np.testing.assert_array_equal(ours, wanted)
        assert printed == said
        return code, namespace

    if "Here only the row of" in code:
        wanted = wanted[word : word + 1]
    if pairs := re.search(r"Here only the first (\d+) of the (\d+) pairs", code):
        # Of each pair of numbers that are turned together, both.
        n_pairs, half = map(int, pairs.groups())
        wanted = wanted[:, np.r_[:n_pairs, half : half + n_pairs]]
    elif "Here only the first" in code:
        wanted = wanted[:, : ours.shape[1]]
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-5)
    check_answer(code, printed, said, wanted, word)
    return code, namespace


def check_answer(code, printed, said, wanted, word):
    row, first, last = re.search(r"\[(\d+), (?:(\d+)|:(\d+))\]", code.splitlines()[-1]).groups()
    assert int(row) == (word if len(wanted) > 1 else 0)
    numbers = wanted[int(row), : int(last)] if last else wanted[int(row), int(first) : int(first) + 1]
    assert said.split(", ")[0] == " ".join(f"{number:.2f}" for number in numbers)
    # Another order of adding up may round the last digit to the other side.
    np.testing.assert_allclose([float(x) for x in printed.split()], numbers, rtol=0, atol=0.0051)


@pytest.mark.parametrize(
    ("model_id", "name", "step", "library"),
    pairwise(["toy", "minilm-l6", "smollm2-135m"], CASES, keys(), LIBRARIES),
)
def test_pasted_code_gives_the_numbers_of_the_page(traces, model_id, name, step, library):
    trace = traces[model_id, name]
    info = trace.info
    for layer, head, word in ((info.default_layer, info.default_head, len(trace.tokens) // 2), (0, 0, 0)):
        check(step, library, trace, layer, head, word)


@pytest.mark.parametrize(
    ("kind", "step", "library"),
    pairwise(["roberta", "distilbert", "gpt2", "llama", "bart", "t5", "vit"], keys(), LIBRARIES),
)
def test_pasted_code_gives_the_numbers_of_every_architecture(model_of, kind, step, library):
    trace = model_of(kind).trace("0123456789abcdef" * 4 if kind == "vit" else "The cat sat on the mat")
    for part in (trace, trace.decoder) if trace.decoder else (trace,):
        for layer, head, word in ((0, 0, 1), (1, 3, 4)):
            check(step, library, part, layer, head, word)


def test_a_position_bias_is_cut_like_the_keys(model_of):
    trace = model_of("t5").trace("The cat sat on the mat " * 60)
    assert len(trace.tokens) > 256
    check("scores", "numpy", trace, 1, 2, word=200)


@pytest.mark.parametrize(("step", "library"), IN_TURN)
def test_a_pair_of_texts(minilm, step, library):
    trace = minilm.trace("The cat sat.", "On the mat?")
    check(step, library, trace, word=len(trace.tokens) - 2)


@pytest.mark.parametrize(("step", "library"), IN_TURN)
def test_the_longest_text_takes_the_row_of_the_focus_word(longest, step, library):
    assert len(longest.tokens) == 512
    code, namespace = check(step, library, longest, 5, 6, word=300)
    if step != "tokens":
        assert "row of 'cat'" in code or "row of 'mat'" in code
        assert len(namespace[RESULTS[step]]) == 1


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("step", ["scores", "scale", "mask", "softmax"])
def test_a_chosen_cell_is_the_one_that_is_printed(traces, step, library):
    trace = traces["minilm-l6", "usual"]
    wanted = recorded(step, trace, 5, 6)
    for row, column in ((1, 2), (6, 0)):
        code = snippet(step, library, trace, 5, 6, row, column)
        said = code.splitlines()[-1].split("  # ")[1]
        names = f"{trace.tokens[row].text!r} · {trace.tokens[column].text!r}"
        assert said == f"{wanted[row, column]:.2f}, {names}"
        assert float(run(code)[1]) == pytest.approx(wanted[row, column], abs=0.0051)


def test_numbers_are_embedded_without_loss(traces):
    for model_id in ("toy", "minilm-l6", "smollm2-135m"):
        trace = traces[model_id, "usual"]
        wanted = trace.layers[0].head(1)
        for library in LIBRARIES:
            for step, variable, array in (("scale", "scores", wanted.scores), ("scores", "K", wanted.keys)):
                namespace, _ = run(snippet(step, library, trace, 0, 1, 0))
                np.testing.assert_array_equal(np.asarray(namespace[variable]), array)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("model_id", ["toy", "minilm-l6"])
def test_a_word_that_may_look_nowhere_gives_0_and_no_warning(models, model_id, library):
    n_tokens = len(models[model_id].trace("The cat sat").tokens)
    mask = np.zeros((n_tokens, n_tokens), np.float32)
    mask[1] = -np.inf
    mask[2, 0] = -np.inf
    trace = models[model_id].trace("The cat sat", mask=mask)
    for step in keys():
        for word in (1, 2):
            _, namespace = check(step, library, trace, word=word)
            if step == "softmax":
                assert (np.asarray(namespace["weights"])[1] == 0).all()


def random_layer(*, heads=4, groups=2, tokens=5, width=6, value_width=3, d_model=10, **changes):
    """A layer of an unusual model: grouped keys and values, narrow values, no biases, a scale of its own."""
    numbers = np.random.default_rng(0)

    def normal(*shape):
        return numbers.normal(size=shape).astype(np.float32)

    X = normal(tokens, d_model)
    parts = Projections(
        W_Q=normal(d_model, heads * width),
        W_K=normal(d_model, groups * width),
        W_V=normal(d_model, groups * value_width),
        W_O=normal(heads * value_width, d_model),
    )
    queries = equation.split_heads(X @ parts.W_Q, heads)
    keys, values = equation.split_heads(X @ parts.W_K, groups), equation.split_heads(X @ parts.W_V, groups)
    output = equation.attend(queries, keys, values, scale=0.5).head_outputs
    layer = LayerTrace(X, queries, keys, values, None, 0.5, output, projections=parts)
    return replace(layer, **changes)


def with_layer(trace, layer):
    n_tokens = layer.queries.shape[1]
    tokens = tuple(Token(f"token{i}", f"token{i}", i, i, i) for i in range(n_tokens))
    return replace(trace, layers=(layer,), tokens=tokens, embeddings=None)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("step", keys()[2:])
def test_grouped_keys_no_biases_and_a_scale_of_its_own(toy, step, library):
    for head in range(4):
        check(step, library, with_layer(toy, random_layer()), head=head, word=3)
    # ... and a mask for each head.
    mask = np.random.default_rng(1).normal(size=(4, 5, 5)).astype(np.float32)
    check(step, library, with_layer(toy, random_layer(mask=mask)), head=3, word=4)


@pytest.mark.parametrize(("step", "library"), IN_TURN[2:])
def test_a_larger_model_is_cut_and_stays_real(toy, step, library):
    layer = random_layer(heads=2, groups=1, tokens=600, width=80, value_width=80, d_model=1024)
    # Long rows of random numbers make scores of thousands; trained models have them near 0.
    layer = replace(layer, scale=0.001)
    code = snippet(step, library, with_layer(toy, layer), 0, 1, 500)
    assert len(code) <= MAX_CHARACTERS
    namespace, _ = run(code)
    ours = np.asarray(namespace[RESULTS[step]])
    wanted = recorded(step, with_layer(toy, layer), 0, 1)[500:501, : ours.shape[1]]
    np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-3)
    assert "too many" in code


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("has_biases", [True, False])
def test_turned_queries_are_those_of_the_model_with_its_biases_and_without(toy, library, has_biases):
    layer = random_layer()
    biases = [np.random.default_rng(seed).normal(size=width).astype(np.float32) for seed, width in ((5, 24), (6, 12))]
    parts = replace(layer.projections, b_Q=biases[0], b_K=biases[1]) if has_biases else layer.projections
    angles = np.outer(np.arange(5), 10_000.0 ** (-np.arange(3) / 3)).astype(np.float32)
    turns = Rotary(np.cos(angles), np.sin(angles))
    queries = equation.split_heads(equation.project(layer.inputs, parts.W_Q, parts.b_Q), 4)
    turned = replace(layer, queries=apply_rotary(queries, turns), projections=parts, rotary=turns)
    code, _ = check("qkv", library, with_layer(toy, turned), head=2, word=3)
    assert ("b_Q" in code) == has_biases
    assert ("W_K and b_K" in code) == has_biases
    assert "+ b_V" not in code


@pytest.mark.parametrize("library", LIBRARIES)
def test_unknown_weights_leave_what_was_recorded(toy, library):
    trace = with_layer(toy, random_layer(projections=None))
    code = snippet("qkv", library, trace, 0, 3, 1)
    namespace, _ = run(code)
    wanted = trace.layers[0].head(3)
    for name, array in (("Q", wanted.queries), ("K", wanted.keys), ("V", wanted.values)):
        np.testing.assert_array_equal(np.asarray(namespace[name]), array)
    assert "as recorded" in code

    code = snippet("heads", library, trace, 0, 3, 1)
    namespace, printed = run(code)
    np.testing.assert_allclose(np.asarray(namespace["joined"]), trace.layers[0].joined())
    assert "the W_O of" in code
    check_answer(code, printed, code.splitlines()[-1].split("  # ")[1], trace.layers[0].joined(), 1)


def test_weights_that_do_not_explain_the_record_are_not_claimed_to(toy):
    layer = random_layer()
    turned = replace(layer, queries=layer.queries[:, ::-1])
    code = snippet("qkv", "numpy", with_layer(toy, turned), 0, 0, 0)
    assert "does more than X @ W + b" in code
    np.testing.assert_array_equal(run(code)[0]["Q"], turned.head(0).queries)


@pytest.mark.parametrize("library", LIBRARIES)
def test_unknown_embeddings_leave_what_was_recorded(toy, library):
    trace = with_layer(toy, random_layer())
    code = snippet("embed", library, trace, 0, 0, 1)
    np.testing.assert_array_equal(np.asarray(run(code)[0]["X"]), trace.layers[0].inputs)
    nothing = with_layer(toy, random_layer(inputs=None))
    code = snippet("embed", library, nothing, 0, 0, 1)
    assert "not recorded" in code
    assert run(code)[1] == ""
    assert "Q = " in snippet("qkv", library, nothing, 0, 0, 1)


def test_what_follows_the_sum_is_said(traces, toy):
    trace = traces["minilm-l6", "usual"]
    first = " ".join(f"{number:.2f}" for number in trace.layers[0].inputs[3, :4])
    assert says(snippet("embed", "numpy", trace, 0, 0, 3), "1", first)
    assert "Then" not in snippet("embed", "numpy", toy, 0, 0, 3)


def test_the_keys_of_cross_attention_are_named_by_the_text_that_was_read(toy):
    layer = random_layer()
    cross = replace(layer, inputs=None, queries=layer.queries[:, :2], model_output=layer.model_output[:, :2])
    read = tuple(replace(toy.tokens[0], text=f"lu{i}", position=i) for i in range(layer.keys.shape[1]))
    trace = replace(with_layer(toy, replace(cross, kind="cross")), memory=read, use=CROSS)
    for step in ("scores", "scale", "mask", "softmax"):
        code, _ = check(step, "numpy", trace, head=1, word=1)
        assert re.search(r"'token1' · 'lu\d'$", code.rstrip())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("text", ['"""', "'''\\", "a\nimport os", "\u2028b\r", "$Q ${K} $", "{x}", "# hi", "x" * 2000])
def test_no_token_text_breaks_the_code(toy, text, library):
    tokens = tuple(replace(token, text=text) for token in toy.tokens)
    for step in keys():
        code, namespace = check(step, library, replace(toy, tokens=tokens), word=2)
        if step == "tokens":
            assert namespace["tokens"] == [text] * len(tokens)
        else:
            assert max(map(len, code.splitlines()[-1:])) < 150


def test_words_in_pieces_are_put_together(minilm):
    trace = minilm.trace("unbelievable tokenization")
    namespace, printed = run(snippet("tokens", "numpy", trace, 0, 0, 1))
    assert [len(pieces) for pieces in namespace["pieces"].values()] == [1, 2]
    assert printed == "'unbelievable' 23653 ['unbelievable']"
    assert run(snippet("tokens", "pytorch", trace, 0, 0, 0))[1] == "'[CLS]' 101 None"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("loss", "numpy", 0, 0, 0), ValueError, "step must be one of tokens, .*, got 'loss'"),
        (("sum", "jax", 0, 0, 0), ValueError, "library must be one of numpy, pytorch, got 'jax'"),
        (("sum", "numpy", 1, 0, 0), IndexError, "layer must be between 0 and 0, got 1"),
        (("sum", "numpy", 0, 3, 0), IndexError, "head must be between 0 and 2, got 3"),
        (("sum", "numpy", 0, 0, -1), IndexError, "token must be between 0 and 5, got -1"),
    ],
)
def test_what_there_is_not_is_refused(toy, arguments, error, message):
    step, library, layer, head, word = arguments
    with pytest.raises(error, match=message):
        snippet(step, library, toy, layer, head, word)
