"""A page as a file: every kind of block is written, no typed text is interpreted, and formulas are MathML."""

import html.parser
import re
import xml.etree.ElementTree as ET
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.figures.bars import parts_bars
from attention.figures.buttons import Button, Buttons
from attention.figures.matrix import Matrix
from attention.page.blocks import (
    Block,
    Code,
    Download,
    Entry,
    Fold,
    Formula,
    Heading,
    Image,
    Notice,
    Panels,
    Picture,
    Progress,
    ProofLine,
    Prose,
    Proven,
    Row,
    Section,
    Setting,
    Shapes,
    Table,
    Upload,
    Waiting,
    Way,
    Work,
    walk,
)
from attention.page.page_file import page
from attention.page.pages import FRONT
from attention.page.settings import CELL, FILE, GET, HOLD, MEAN, PROOF, SIZES
from attention.training.jobs import Job

MATHML = "{http://www.w3.org/1998/Math/MathML}"
MATRIX = Matrix(
    "m", "S", np.eye(2, dtype=np.float32), ("a", "b"), ("a", "b"), "rows", "columns", "weights", "A picture."
)


def shown(*found):
    return page("Title", "Caption", found)


def body(text):
    return text[text.index("<main>") : text.index("</main>")]


# One of each kind, and what of it can be read in the file; None is what a file leaves out.
EXAMPLES = [
    (Heading("A < heading", 3), "<h3>A &lt; heading</h3>"),
    (Formula(r"\sqrt{d_k}"), "<msqrt>"),
    (Prose("<p>one <b>two</b></p>", "detail"), '<div class="prose detail"><p>one <b>two</b></p></div>'),
    (Notice("a & b"), "a &amp; b"),
    (Notice("by the way", is_quiet=True), "by the way"),
    (Shapes("S (2×2)"), "S (2×2)"),
    (Waiting("Loading <it> …", 0.5), None),
    (Code("print('<b>')"), "print(&#x27;&lt;b&gt;&#x27;)"),
    (Picture("p", MATRIX), 'data-picture="0"'),
    (Picture("p", Buttons("next", (Button("on"),))), None),
    (Table("t", lambda: {"x": ["1", "<2>"], "y": ["3"]}), "<td>&lt;2&gt;</td><td></td>"),
    (Table("t", lambda: {"x": ["1"] * 99}, limit=64), None),
    (Table("t", lambda: {"x": ["1"]}, file="t", is_shown=False), None),
    (Download("Take it", "x.csv", lambda: ""), None),
    (Image("Take it", "x.png", "x.json"), None),
    (Setting(SIZES, "Sizes of", "b", {"a": "A", "b": "B"}, key="s"), "Sizes of: B"),
    (Setting(MEAN, "The mean", "1", key="s"), "The mean"),
    (Setting(MEAN, "The mean", "", key="s"), None),
    (Entry("e", GET, "Name", "<a>", "Type one"), "Name: &lt;a&gt;"),
    (Entry("e", GET, "Name", "", "Type one"), None),
    (
        Panels("p", SIZES, "More", "a", {"a": "One", "b": "Two"}, {"b": (Shapes("inside"),)}),
        '<h3>Two</h3>\n<p class="shapes">inside</p>',
    ),
    (Fold("f", "More", (Shapes("inside"),)), "<details><summary>More</summary>"),
    (Fold("f", "More", (Shapes("inside"),), is_open=True), "<details open>"),
    (Way("w", "Elsewhere", FRONT, {}), None),
    (Work("w", Job("j", "nowhere"), (), "Go", "Done <today>", 0.5), "Done &lt;today&gt;"),
    (Progress("p", HOLD, "3 of <5>", 0.6, "Continue", "Cancel"), "3 of &lt;5&gt;"),
    (Progress("p", HOLD, "", None, "Continue", "Cancel"), None),
    (Upload("u", FILE, "A file", "It is kept", "", "Leave it", 10), None),
    (Row(((Shapes("left"),), (Shapes("right"),)), (2, 1)), '<div style="--part: 1"><p class="shapes">right</p></div>'),
    (Section("s", (Shapes("inside"),), is_framed=True), '<section class="s framed">'),
    (
        Proven((ProofLine("rows sum to 1", True, (("what", "by"), ("rows", "1e-7")), "<p>How.</p>"),), PROOF, False),
        "✓ rows sum to 1",
    ),
]


@pytest.mark.parametrize(("block", "wanted"), EXAMPLES, ids=[type(block).__name__ for block, _ in EXAMPLES])
def test_every_kind_of_block_is_written(block, wanted):
    nothing = body(shown())
    written = body(shown(block))
    assert written == nothing if wanted is None else wanted in written


def test_the_examples_are_of_every_kind():
    assert {type(block) for block, _ in EXAMPLES} == set(get_args(Block))


def test_blocks_inside_others_are_found():
    inner = Shapes("x")
    nests = [
        Row(((inner,),)),
        Section("s", (inner,)),
        Fold("f", "t", (inner,)),
        Panels("p", SIZES, "More", "a", {"a": "A"}, {"a": (inner,)}),
    ]
    for nest in nests:
        assert walk((nest,)) == [nest, inner]


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))


@given(st.one_of(st.sampled_from(["</main>", "<script>", "<!--", "'\"", "\x00", "\ud800"]), st.text(max_size=20)))
def test_no_text_becomes_an_element(text):
    def elements(words):
        return Elements(
            page(
                words,
                words,
                (
                    Heading(words),
                    Notice(words),
                    Shapes(words),
                    Code(words),
                    Table("t", lambda: {words: [words]}),
                    Fold("f", words, (Shapes(words),)),
                    Picture("p", parts_bars([words, "b"], np.ones(2), words)),
                ),
            )
        ).tags

    assert elements(text or "a") == elements("a")


FORMULAS = [
    (r"\textcolor{#0072B2}{Q}\textcolor{#D55E00}{K^{\top}}", {"#0072B2": "Q", "#D55E00": "K⊤"}),
    (r"{Q = X W_Q} \quad\allowbreak {K = X W_K}", {}),
    (r"\mathrm{softmax}\big(x\big) \, V", {}),
]


@pytest.mark.parametrize(("latex", "colours"), FORMULAS)
def test_a_formula_keeps_its_letters_and_their_colours(latex, colours):
    text = body(shown(Formula(latex)))
    tree = ET.fromstring(text[text.index("<math") : text.index("</math>") + len("</math>")])
    found = {node.get("mathcolor"): "".join(node.itertext()) for node in tree.iter(f"{MATHML}mstyle")}
    assert found == colours
    assert "\\" not in "".join(tree.itertext())


def test_the_script_of_a_component_is_there_once_however_often_it_is_drawn():
    text = shown(*(Picture(f"p{index}", MATRIX) for index in range(3)))
    assert text.count("matrix:(()=>{") == 1
    assert len(re.findall(r"data-picture=\"\d\"", text)) == 3


def test_nothing_leads_to_another_view():
    text = shown(Picture("p", MATRIX, sets={"cell": CELL}))
    assert '"selectable":false' in text
    assert '"isStill":true' in text
