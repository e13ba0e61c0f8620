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
FRENCH = "Jane visite l'Afrique en septembre"
DIGIT = "0019fb0000bg8e6002ga099001g4088004g4088001g51b3000ccaa00001ad300"
# Those that say what they mean, and nothing else.
LINKS = (
    "model=toy",
    "model=smollm2-135m&step=heads&layer=14&head=9",
    "model=translator-fr-en",
    "model=translator-fr-en&part=cross&step=softmax&layer=2&head=3&cell=weights-1-2",
    "model=translator-fr-en&part=decoder&step=mask&text=le+chat+noir+dort&mask=causal",
    "model=vit-digits&step=scores&word=5",
    "text=Two+small+birds+sing&model=toy&step=softmax&mask=causal&word=1&head=3&cell=weights-1-0&beside=1&beside_layer=2&beside_head=12&beside_cell=weights-3-3",
    "text=Two+birds&at=A-4&step=scores",
    "text=The+dog+barked&pair=It+saw+the+other+dog&at=B-11",
    "text=&model=toy",
    "text=One+two&versus=One+three&cell=compare-1-0",
    "text=One+two&versus=",
    "versus=One+three&step=qkv",
    "beside=1&cell=compare-2-1&layer=3&head=4&beside_layer=1&beside_head=2",
    "pair=It+was+tired&sort=across&block=AB&on=1-3&pins=query-2&words=1",
    "sort=entropy&hide=special&renormalise=1",
    "sort=pattern&hide=punctuation&words=1&least=0.1",
    "sort=similarity&least=0.02&on=",
    "pins=key-1-5-3&mean=1",
    "mean=1&block=BA&least=0.05&on=12-1-1",
    "relation=det&example=4&rare=1",
    "relation=iobj&rare=1&model=toy",
    "example=200&model=smollm2-135m",
    "cell=neuron-2-5&word=2&layer=6&head=7",
    "step=scale&mask=padding&word=511",
    "step=sum&cell=contributions-3-4",
    "step=mask&cell=masked-0-0&mask=causal&model=smollm2-135m",
    "step=embed&cell=inputs-99999-99999",
    "layer=001&head=07&word=0003",
    "text=Two+birds&model=toy&step=softmax&mask=causal&word=1&head=3&cell=weights-1-0&beside=1&beside_layer=2",
    "text=le+chat+noir+dort&model=translator-fr-en&part=cross&step=softmax",
    "text=One+two&versus=One+three&cell=compare-1-0&step=scores",
    "pair=It+was+tired&sort=across&block=AB&on=1-3&pins=query-2&words=1&versus=One&example=3",
)
# Of the others, what they chose, and how many notices there were.
ODD = {
    "model=vit-digits&step=tokens&mask=padding": ({"text": DIGIT, "model": "vit-digits"}, 1),
    "model=vit-digits&pair=It+was+tired": ({"text": DIGIT, "model": "vit-digits"}, 1),
    "model=vit-digits&beside_head=12&text=not+a+picture": ({"text": "not a picture", "model": "vit-digits"}, 1),
    "word=2&at=A-4": ({"word": 2}, 1),
    "step=Scores&mask=all&sort=x&hide=y&block=AC": ({}, 5),
    "model=gpt-5&head=7": ({"head": 6}, 1),
    "model=toy&head=4&layer=2&beside_layer=7": ({"model": "toy"}, 3),
    "word=-1&layer=0&head=13&cell=scores&beside=yes": ({}, 5),
    "on=0-1&least=0.03&pins=value-3&mean=on": ({}, 4),
    "relation=object&example=201&rare=2&at=C-8": ({}, 4),
    "part=cross": ({}, 1),
    "part=sideways&model=translator-fr-en": ({"text": FRENCH, "model": "translator-fr-en"}, 1),
    "text=%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%83%86%E3%82%AD%E3%82%B9%E3%83%88&model=minilm-l6": (
        {"text": "日本語のテキスト"},
        0,
    ),
    "text=a%0Ab%E2%80%AEc&step=qkv": ({"text": "a\nbc", "step": "qkv"}, 1),
    "unknown=1&step=heads&get=org/model": ({"step": "heads"}, 0),
}


def meant(name, said):
    """What a link says of a parameter, read by hand: layers, heads and examples count from 1, all else from 0."""
    match name:
        case "layer" | "head" | "beside_layer" | "beside_head" | "example":
            return int(said) - 1
        case "word":
            return int(said)
        case "cell" | "beside_cell":
            matrix, row, column = said.split("-")
            return Cell(matrix, int(row), int(column))
        case "at":
            text, start = said.split("-")
            return Spot("AB".index(text), int(start))
        case "beside" | "words" | "renormalise" | "mean" | "rare":
            return said == "1"
        case "on":
            return tuple(sorted({int(head) - 1 for head in said.split("-") if head}))
        case "pins":
            side, *positions = said.split("-")
            return side, tuple(sorted(map(int, positions)))
        case "least":
            return float(said)
    return said


def recorded(link):
    if link in ODD:
        return ODD[link]
    chosen = {name: meant(name, said) for name, said in parse_qsl(link, keep_blank_values=True)}
    first = {"translator-fr-en": FRENCH, "vit-digits": DIGIT}.get(chosen.get("model"))
    return (chosen if first is None else {"text": first, **chosen}), 0


RECORDED = {link: recorded(link) for link in (*LINKS, *ODD)}


def opened(link, page):
    """What a link chooses on a page, by the names of the parameters, and how many notices there are."""
    view, notices = View.from_query(dict(parse_qsl(link, keep_blank_values=True)), page, MODELS)
    chosen = {each.name: view[each] for each in everything(page) if view[each] != each.default and each.name != "get"}
    return chosen, len(notices)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_recorded_link_opens_the_same_view_on_every_page(page):
    assert {link: opened(link, page) for link in RECORDED} == RECORDED
