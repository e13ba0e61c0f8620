"""Heads in a notebook as Plotly figures: the exact weights, with tokens on both axes."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from attention import show
from attention.answer import asked, generated_files
from attention.export.explanation import explanation
from attention.models import load

TEXT = "The cat sat on the mat"


@pytest.fixture(scope="module")
def trace():
    return load("minilm-l6").trace(TEXT)


def test_a_head_is_a_heatmap_of_its_exact_weights_between_its_tokens(trace):
    figure = show.figure(trace, 2, 5)
    (heatmap,) = figure.data
    assert isinstance(figure, go.Figure)
    np.testing.assert_array_equal(heatmap.z, trace.layers[2].steps().weights[5])
    names = tuple(token.text for token in trace.tokens)
    assert (figure.layout.xaxis.ticktext, figure.layout.yaxis.ticktext) == (names, names)
    # A token that comes twice has two places, and the first row is at the top.
    assert figure.layout.xaxis.tickvals.tolist() == list(range(len(names)))
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    assert json.loads(figure.to_json())["layout"]["title"]["text"] == "Layer 3, head 6"


def test_weights_alone_are_a_heatmap_too():
    weights = [torch.softmax(torch.arange(8.0).reshape(1, 2, 2, 2) * layer, -1) for layer in (1, 2)]
    figure = show.figure(weights, 1, 0, tokens=["<b>", "Ġb"])
    np.testing.assert_array_equal(figure.data[0].z, weights[1][0, 0].numpy())
    assert figure.layout.xaxis.ticktext == ("&lt;b&gt;", "␣b")
    with pytest.raises(ValueError, match="no head 2 here"):
        show.figure(weights, 1, 2, tokens=["a", "b"])


def test_of_a_run_one_sees_what_the_app_opens_and_of_two_texts_each_its_own_tokens(trace):
    info = trace.info
    assert show.figure(trace).layout.title.text == f"Layer {info.default_layer + 1}, head {info.default_head + 1}"
    cross = load("translator-fr-en").trace("le chat noir")
    figure = show.figure(cross.part("cross"), 0, 1)
    assert figure.data[0].z.shape == (len(figure.layout.yaxis.ticktext), len(figure.layout.xaxis.ticktext))
    np.testing.assert_array_equal(figure.data[0].z, cross.cross.layers[0].steps().weights[1])


def test_all_heads_are_one_heatmap_with_gaps_between_them(trace):
    figure = show.atlas_figure(trace)
    (heatmap,) = figure.data
    size, (n_layers, n_heads) = len(trace.tokens), (len(trace.layers), trace.info.n_heads)
    assert heatmap.z.shape == (n_layers * (size + 1) - 1, n_heads * (size + 1) - 1)
    for layer, head in ((0, 0), (2, 5), (n_layers - 1, n_heads - 1)):
        top, left = layer * (size + 1), head * (size + 1)
        tile = heatmap.z[top : top + size, left : left + size]
        np.testing.assert_array_equal(tile, trace.layers[layer].steps().weights[head])
        assert heatmap.customdata[top + 1, left + 2].tolist() == [trace.tokens[1].text, trace.tokens[2].text]
    assert np.isnan(heatmap.z).sum() == heatmap.z.size - n_layers * n_heads * size**2
    # A number stands at the middle of its heads.
    assert figure.layout.xaxis.tickvals[0] == (size - 1) / 2
    assert figure.layout.xaxis.ticktext == tuple(str(head + 1) for head in range(n_heads))


def asked_of_the_app(file, **link):
    """Ask for a file of the page All heads."""
    return asked.answer(
        generated_files.give, "GET", f"all_heads/now/{file}/{file}", {"model": "minilm-l6", "text": TEXT, **link}, {}
    )


def given_by_the_app(file, **link):
    return json.loads(asked_of_the_app(file, **link).body)


def numbers_of(sent):
    """Return numbers that were sent as Plotly writes them."""
    rows, columns = map(int, sent["shape"].split(","))
    return np.frombuffer(base64.b64decode(sent["bdata"]), sent["dtype"]).reshape(rows, columns)


def test_the_app_gives_all_heads_as_the_same_figure(trace):
    wanted, found = show.atlas_figure(trace), given_by_the_app("heads.json")
    (heatmap,) = found["data"]
    np.testing.assert_array_equal(numbers_of(heatmap["z"]), wanted.data[0].z)
    assert heatmap["customdata"] == wanted.data[0].customdata.tolist()
    assert found["layout"]["title"]["text"] == wanted.layout.title.text
    # What is hidden on the page is blank here, in each head.
    size = len(trace.tokens)
    (heatmap,) = given_by_the_app("heads.json", hide="special")["data"]
    second = numbers_of(heatmap["z"])[:size, size + 1 : 2 * size + 1]
    assert np.isnan(second[0]).all()
    np.testing.assert_array_equal(second[1:-1, 1:-1], trace.layers[0].steps().weights[1, 1:-1, 1:-1])


def test_the_app_gives_no_figure_that_would_be_too_large():
    long = " ".join(["cat"] * 120)
    assert "data" in given_by_the_app("heatmap.json", text=long)
    assert asked_of_the_app("heads.json", text=long).status_code == 410


def test_some_of_the_heads_keep_their_numbers(trace):
    figure = show.atlas_figure(trace, include_layers=[4], include_heads=[1, 7])
    assert (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext) == (("5",), ("2", "8"))
    np.testing.assert_array_equal(figure.data[0].z[:, -len(trace.tokens) :], trace.layers[4].steps().weights[7])


def test_a_figure_that_could_not_be_made_is_one_that_says_so():
    told = go.Figure(json.loads(explanation("heatmap.json", "No <b>such</b> head.")))
    assert (told.layout.title.text, told.data) == ("No &lt;b&gt;such&lt;/b&gt; head.", ())
