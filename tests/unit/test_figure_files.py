"""Downloads: they are self-contained, escape text, and contain the trace's numbers."""

import base64
import hashlib
import html
import html.parser
import io
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core import steps
from attention.core.trace import LayerTrace, ModelInfo, Token, Trace
from attention.figures.atlas import Atlas, Tiles, by_layer
from attention.figures.head_view import HeadLines, HeadView
from attention.figures.matrix import Matrix
from attention.page import page_file
from attention.page.figure_files import figure_html, trace_npz

ROOT = Path(__file__).parents[2]
NASTY = [
    "</script>",
    "<!--<script>",
    "</style>",
    "</SCRIPT >",
    "]]>",
    "&lt;",
    "\"'`",
    "\u2028\u2029",
    "\x00\x0b",
    "\ud800",
    "\ufffe",
    "مرحبا",
    "👩‍👩‍👧",
    " ",
    "",
]
anything = st.one_of(st.sampled_from(NASTY), st.text(max_size=20))


def heads(*labels, **changes):
    weights = np.full((len(labels), len(labels)), 1 / len(labels))
    return HeadView("Layer 1", labels, labels, (HeadLines("Head 1", weights),), "Some weights.", **changes)


def matrix(values, labels=None, **changes):
    values = np.asarray(values, np.float32)
    rows, columns = labels or ([f"r{i}" for i in range(values.shape[0])], [f"c{i}" for i in range(values.shape[1])])
    parts = {"name": "m", "title": "S", "row_axis": "queries", "column_axis": "keys", "palette": "signed", "alt": "A."}
    return Matrix(values=values, row_labels=tuple(rows), column_labels=tuple(columns), **parts | changes)


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the text in each script, title, heading and paragraph."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts, self.open = [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "title", "h1", "p"):
            self.open = f"{tag} {dict(attrs).get('type', '')}".strip()
            self.texts[self.open] = ""

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.texts[self.open] += data


def pages(*labels):
    cells = matrix(np.zeros((1, len(labels))), (["r"], labels))
    return [
        figure_html(heads(*labels), "Heads", "A caption."),
        figure_html(cells, "Scores", "A caption."),
        figure_html(atlas(np.full((2, 3, 4, 4), 0.25)), "All heads", "A caption."),
    ]


def atlas(weights):
    tiles = Tiles.of(list(weights))
    return Atlas(tiles, by_layer(tiles), "Heads", "All heads.")


# --------------------------------------------------------------------------------------------- HTML


def test_a_page_names_no_other_place():
    for text in pages("a", "b"):
        addresses = re.findall(r"[a-z]+://[^\s\"'`)]*", text)
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a name, nothing is fetched from it
        for tag, attributes in Page(text).found:
            assert "src" not in attributes
            assert attributes.get("href", "data:,") == "data:,"
            assert tag not in ("iframe", "img", "object", "embed", "base")
        assert "@import" not in text
        assert "url(//" not in text
        assert not re.search(r"\bimport\b|\bfetch\(|XMLHttpRequest|WebSocket", Page(text).texts["script"])


def test_a_page_forbids_itself_the_network_and_every_other_script():
    for text in pages("a", "b"):
        (policy,) = [a["content"] for _, a in Page(text).found if a.get("http-equiv") == "Content-Security-Policy"]
        digest = hashlib.sha256(Page(text).texts["script"].encode()).digest()
        assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
        assert policy.startswith("default-src 'none';")


@given(st.lists(anything, min_size=1, max_size=4), anything, anything)
def test_any_text_stays_text_on_a_page(labels, title, caption):
    text = figure_html(heads(*labels), title, caption)
    text.encode("utf-8")
    plain = Page(figure_html(heads("a"), "Heads", "A caption." if caption else ""))
    page = Page(text)
    assert [tag for tag, _ in page.found] == [tag for tag, _ in plain.found]
    assert page.texts["script"] == plain.texts["script"]
    given_json = page.texts["script application/json"]
    assert not re.search("[<>&\u2028\u2029]", given_json)
    assert json.loads(given_json)["pictures"][0]["data"]["rows"] == labels
    shown = re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", title)
    assert page.texts["h1"] == shown


def test_the_page_looks_like_the_app():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for name, ours in zip(("light", "dark"), page_file.theme(), strict=True):
        keys = ("background", "secondaryBackground", "text", "border")
        assert list(ours.values()) == [theme[name][f"{key}Color"] for key in keys]


def test_pages_are_small():
    weights = np.random.default_rng(0).dirichlet(np.ones(32), (12, 32))
    labels = tuple(f"token{i}" for i in range(32))
    data = HeadView("12 heads", labels, labels, tuple(HeadLines(f"Head {i}", w, i) for i, w in enumerate(weights)), "")
    assert len(figure_html(data, "Heads").encode()) < 100_000
    assert len(figure_html(matrix(np.ones((32, 32))), "Scores").encode()) < 100_000
    noise = np.random.default_rng(0).dirichlet(np.ones(32), (12, 12, 32))
    assert len(figure_html(atlas(noise), "All heads").encode()) < 250_000


def test_a_weight_that_the_mask_hides_is_hatched_in_a_file():
    hidden = ~np.tri(3, dtype=bool)
    weights = np.where(hidden, 0, 1 / np.arange(1, 4)[:, None])
    picture = matrix(weights, palette="weights", hidden=hidden)
    given = json.loads(Page(figure_html(picture, "A")).texts["script application/json"])["pictures"][0]["data"]
    numbers = np.frombuffer(base64.b64decode(given["values"]), "<f4").reshape(3, 3)
    assert np.array_equal(np.isneginf(numbers), hidden)
    assert given["masked"] == "0"


# ---------------------------------------------------------------------------------------------- npz


def random_trace(n_layers=2, n_heads=4, n_groups=2, n_tokens=5, d_head=4, text="a b", mask=None):
    rng = np.random.default_rng(0)
    layers = []
    for _ in range(n_layers):
        queries = rng.normal(size=(n_heads, n_tokens, d_head)).astype(np.float32)
        keys, values = rng.normal(size=(2, n_groups, n_tokens, d_head)).astype(np.float32)
        inputs = rng.normal(size=(n_tokens, n_heads * d_head)).astype(np.float32)
        output = steps.attend(queries, keys, values, mask=mask).head_outputs
        layers.append(LayerTrace(inputs, queries, keys, values, mask, d_head**-0.5, output))
    info = ModelInfo("random", "R", "", n_layers, n_heads, n_groups, n_heads * d_head, d_head, 99, 0, "", "", "")
    tokens = tuple(Token(f"t{i}", f"T{i}", None if i == 0 else i, i, 100 + i, i == 0, i % 2) for i in range(n_tokens))
    return Trace(text, tokens, tuple(layers), info)


def loaded(data):
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("mask", [None, np.triu(np.full((5, 5), -np.inf, np.float32), 1)], ids=["no mask", "causal"])
def test_one_layer_comes_back_bit_for_bit(mask):
    trace = random_trace(mask=mask)
    found = loaded(trace_npz(trace, 1))
    layer = trace.layers[1]
    for name in ("inputs", "queries", "keys", "values", "model_output"):
        assert np.array_equal(found[f"layer_1_{name}"], getattr(layer, name))
        assert found[f"layer_1_{name}"].dtype == np.float32
    assert np.array_equal(found["layer_1_weights"], layer.steps().weights)
    assert found["layer_1_scale"] == layer.scale
    assert ("layer_1_mask" in found) == (mask is not None)
    if mask is not None:
        assert np.array_equal(found["layer_1_mask"], mask)
    assert not any(name.startswith("layer_0") for name in found)


def test_the_whole_run_has_the_weights_of_every_layer():
    trace = random_trace()
    found = loaded(trace_npz(trace))
    for index, layer in enumerate(trace.layers):
        assert np.array_equal(found[f"layer_{index}_weights"], layer.steps().weights)
        assert found[f"layer_{index}_weights"].dtype == np.float32
    assert not any("queries" in name for name in found)


def test_the_tokens_come_along():
    trace = random_trace(text="naïve 漢字")
    for found in (loaded(trace_npz(trace)), loaded(trace_npz(trace, 0))):
        assert found["tokens"].tolist() == [token.text for token in trace.tokens]
        assert found["typed"].tolist() == [token.typed for token in trace.tokens]
        assert found["token_ids"].tolist() == [token.token_id for token in trace.tokens]
        assert found["words"].tolist() == [-1, 1, 2, 3, 4]
        assert found["segments"].tolist() == [0, 1, 0, 1, 0]
        assert found["is_special"].tolist() == [True, False, False, False, False]
        assert not found["is_padding"].any()
        assert (str(found["text"]), str(found["model_id"])) == ("naïve 漢字", "random")


@pytest.mark.parametrize("layer", [None, 11])
def test_a_run_of_a_large_bert_stays_under_a_megabyte(layer):
    # Random numbers: nothing compresses worse.
    trace = random_trace(n_layers=12, n_heads=12, n_groups=12, n_tokens=32, d_head=64)
    assert len(trace_npz(trace, layer)) < 1_000_000
