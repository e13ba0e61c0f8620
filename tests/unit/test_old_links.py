"""Links made before parameters were declared still open the same views.

The expected views were recorded with the code that made such links.
"""

from urllib.parse import parse_qsl

import pytest

from attention.figures.matrix import Cell
from attention.models import bundled
from attention.page.pages import PAGES, everything
from attention.page.parameters import Spot
from attention.page.view import View

MODELS = {info.model_id: info for info in bundled.infos()}
# Of each link: what it chose, by the names of the parameters, and how many notices there were.
RECORDED = {
    "model=toy": ({"model": "toy"}, 0),
    "model=smollm2-135m&step=heads&layer=14&head=9": (
        {"model": "smollm2-135m", "step": "heads", "layer": 13, "head": 8},
        0,
    ),
    "model=translator-fr-en": ({"text": "Jane visite l'Afrique en septembre", "model": "translator-fr-en"}, 0),
    "model=translator-fr-en&part=cross&step=softmax&layer=2&head=3&cell=weights-1-2": (
        {
            "text": "Jane visite l'Afrique en septembre",
            "model": "translator-fr-en",
            "part": "cross",
            "step": "softmax",
            "layer": 1,
            "head": 2,
            "cell": Cell(matrix="weights", row=1, column=2),
        },
        0,
    ),
    "model=translator-fr-en&part=decoder&step=mask&text=le+chat+noir+dort&mask=causal": (
        {"text": "le chat noir dort", "model": "translator-fr-en", "part": "decoder", "step": "mask", "mask": "causal"},
        0,
    ),
    "model=vit-digits&step=scores&word=5": (
        {
            "text": "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300",
            "model": "vit-digits",
            "step": "scores",
            "word": 5,
        },
        0,
    ),
    "model=vit-digits&step=tokens&mask=padding": (
        {"text": "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300", "model": "vit-digits"},
        1,
    ),
    "model=vit-digits&pair=It+was+tired": (
        {"text": "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300", "model": "vit-digits"},
        1,
    ),
    "model=vit-digits&beside_head=12&text=not+a+picture": ({"text": "not a picture", "model": "vit-digits"}, 1),
    "text=Two+small+birds+sing&model=toy&step=softmax&mask=causal&word=1&head=3&cell=weights-1-0&beside=1"
    "&beside_layer=2&beside_head=12&beside_cell=weights-3-3": (
        {
            "text": "Two small birds sing",
            "model": "toy",
            "step": "softmax",
            "mask": "causal",
            "word": 1,
            "beside": True,
            "head": 2,
            "cell": Cell(matrix="weights", row=1, column=0),
            "beside_layer": 1,
            "beside_head": 11,
            "beside_cell": Cell(matrix="weights", row=3, column=3),
        },
        0,
    ),
    "text=Two+birds&at=A-4&step=scores": ({"text": "Two birds", "step": "scores", "at": Spot(segment=0, start=4)}, 0),
    "text=The+dog+barked&pair=It+saw+the+other+dog&at=B-11": (
        {"text": "The dog barked", "pair": "It saw the other dog", "at": Spot(segment=1, start=11)},
        0,
    ),
    "word=2&at=A-4": ({"word": 2}, 1),
    "text=&model=toy": ({"text": "", "model": "toy"}, 0),
    "text=One+two&versus=One+three&cell=compare-1-0": (
        {"text": "One two", "versus": "One three", "cell": Cell(matrix="compare", row=1, column=0)},
        0,
    ),
    "text=One+two&versus=": ({"text": "One two", "versus": ""}, 0),
    "versus=One+three&step=qkv": ({"versus": "One three", "step": "qkv"}, 0),
    "beside=1&cell=compare-2-1&layer=3&head=4&beside_layer=1&beside_head=2": (
        {
            "beside": True,
            "layer": 2,
            "head": 3,
            "cell": Cell(matrix="compare", row=2, column=1),
            "beside_layer": 0,
            "beside_head": 1,
        },
        0,
    ),
    "pair=It+was+tired&sort=across&block=AB&on=1-3&pins=query-2&words=1": (
        {"pair": "It was tired", "sort": "across", "block": "AB", "words": True, "on": (0, 2), "pins": ("query", (2,))},
        0,
    ),
    "sort=entropy&hide=special&renormalise=1": ({"sort": "entropy", "hide": "special", "renormalise": True}, 0),
    "sort=pattern&hide=punctuation&words=1&least=0.1": (
        {"sort": "pattern", "words": True, "hide": "punctuation", "least": 0.1},
        0,
    ),
    "sort=similarity&least=0.02&on=": ({"sort": "similarity", "on": (), "least": 0.02}, 0),
    "pins=key-1-5-3&mean=1": ({"pins": ("key", (1, 3, 5)), "mean": True}, 0),
    "mean=1&block=BA&least=0.05&on=12-1-1": ({"block": "BA", "on": (0, 11), "least": 0.05, "mean": True}, 0),
    "relation=det&example=4&rare=1": ({"relation": "det", "example": 3, "rare": True}, 0),
    "relation=iobj&rare=1&model=toy": ({"model": "toy", "relation": "iobj", "rare": True}, 0),
    "example=200&model=smollm2-135m": ({"model": "smollm2-135m", "example": 199}, 0),
    "cell=neuron-2-5&word=2&layer=6&head=7": (
        {"word": 2, "layer": 5, "head": 6, "cell": Cell(matrix="neuron", row=2, column=5)},
        0,
    ),
    "step=scale&mask=padding&word=511": ({"step": "scale", "mask": "padding", "word": 511}, 0),
    "step=sum&cell=contributions-3-4": ({"step": "sum", "cell": Cell(matrix="contributions", row=3, column=4)}, 0),
    "step=mask&cell=masked-0-0&mask=causal&model=smollm2-135m": (
        {"model": "smollm2-135m", "step": "mask", "mask": "causal", "cell": Cell(matrix="masked", row=0, column=0)},
        0,
    ),
    "step=embed&cell=inputs-99999-99999": (
        {"step": "embed", "cell": Cell(matrix="inputs", row=99999, column=99999)},
        0,
    ),
    "layer=001&head=07&word=0003": ({"word": 3, "layer": 0, "head": 6}, 0),
    "step=Scores&mask=all&sort=x&hide=y&block=AC": ({}, 5),
    "model=gpt-5&head=7": ({"head": 6}, 1),
    "model=toy&head=4&layer=2&beside_layer=7": ({"model": "toy"}, 3),
    "word=-1&layer=0&head=13&cell=scores&beside=yes": ({}, 5),
    "on=0-1&least=0.03&pins=value-3&mean=on": ({}, 4),
    "relation=object&example=201&rare=2&at=C-8": ({}, 4),
    "part=cross": ({}, 1),
    "part=sideways&model=translator-fr-en": (
        {"text": "Jane visite l'Afrique en septembre", "model": "translator-fr-en"},
        1,
    ),
    "text=%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%83%86%E3%82%AD%E3%82%B9%E3%83%88&model=minilm-l6": (
        {"text": "日本語のテキスト"},
        0,
    ),
    "text=a%0Ab%E2%80%AEc&step=qkv": ({"text": "a bc", "step": "qkv"}, 1),
    "unknown=1&step=heads&get=org/model": ({"step": "heads"}, 0),
    "text=Two+birds&model=toy&step=softmax&mask=causal&word=1&head=3&cell=weights-1-0&beside=1&beside_layer=2": (
        {
            "text": "Two birds",
            "model": "toy",
            "step": "softmax",
            "mask": "causal",
            "word": 1,
            "beside": True,
            "head": 2,
            "cell": Cell(matrix="weights", row=1, column=0),
            "beside_layer": 1,
        },
        0,
    ),
    "text=le+chat+noir+dort&model=translator-fr-en&part=cross&step=softmax": (
        {"text": "le chat noir dort", "model": "translator-fr-en", "part": "cross", "step": "softmax"},
        0,
    ),
    "text=One+two&versus=One+three&cell=compare-1-0&step=scores": (
        {"text": "One two", "versus": "One three", "step": "scores", "cell": Cell(matrix="compare", row=1, column=0)},
        0,
    ),
    "pair=It+was+tired&sort=across&block=AB&on=1-3&pins=query-2&words=1&versus=One&example=3": (
        {
            "pair": "It was tired",
            "versus": "One",
            "sort": "across",
            "block": "AB",
            "words": True,
            "on": (0, 2),
            "pins": ("query", (2,)),
            "example": 2,
        },
        0,
    ),
}


def opened(link, page):
    """What a link chooses on a page, by the names of the parameters, and how many notices there are."""
    view, notices = View.from_query(dict(parse_qsl(link, keep_blank_values=True)), page, MODELS)
    chosen = {each.name: view[each] for each in everything(page) if view[each] != each.default and each.name != "get"}
    return chosen, len(notices)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_recorded_link_opens_the_same_view_on_every_page(page):
    assert {link: opened(link, page) for link in RECORDED} == RECORDED


def test_every_parameter_of_then_is_in_a_recorded_link():
    chosen = {name for values, _ in RECORDED.values() for name in values}
    assert len(RECORDED) >= 48
    assert chosen == {
        *("text", "pair", "versus", "model", "part", "step", "mask", "word", "at", "beside", "sort", "block"),
        *("layer", "head", "cell", "beside_layer", "beside_head", "beside_cell", "words", "hide", "renormalise"),
        *("on", "least", "pins", "mean", "relation", "example", "rare"),
    }
