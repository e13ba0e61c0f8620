"""A worksheet: its solutions follow from the printed numbers, and nothing before them gives them away."""

import html.parser
import re
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.core.masks import MASK_NAMES
from attention.export.worksheet import paper, worksheet_of, worth_computing
from attention.export.worksheet.base import MOST
from attention.lesson.head_context import HeadContext
from attention.lesson.steps import STEPS, step_of
from tests import made_up_step
from tests.loaded import load
from tests.pairwise import pairwise as combinations
from tests.sweep import sweep
from tests.unit.saying import says

SENTENCES = ["The cat sat on the mat", "A fluffy blue creature roamed the verdant forest, and it slept"]
LONG = " ".join(["The animal didn't cross the wide street because it was tired"] * 3)
MODELS = ["toy", "minilm-l6", "smollm2-135m", "translator-fr-en", "vit-digits"]
KEYS = [step.key for step in STEPS]


@pytest.fixture(scope="module")
def toy():
    return load("toy")


def scene_of(model, text, *, head=None, word=1, layer=None, mask=None, part=None):
    trace = model.trace(text, mask=mask)
    trace = trace if part is None else trace.part(part)
    info = trace.info
    layer = info.default_layer if layer is None else layer
    return HeadContext(trace, layer, info.default_head if head is None else head, min(word, len(trace.tokens) - 1))


def made(scene, small=None, step="softmax"):
    return worksheet_of(step_of(step), scene, small or scene, text=scene.trace.text, place="Here")


# ------------------------------------------------------------------------------- a reader of the file


@dataclass
class Table:
    caption: str = ""
    rows: list = field(default_factory=list)

    def row(self, name):
        return next(cells for title, *cells in self.rows if title.startswith(name))

    def numbers(self, name):
        return [number(cell) for cell in self.row(name)]


class Read(html.parser.HTMLParser):
    """The file as somebody hears it: tables of texts, in which a blank is None, and headings."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.headings, self.tags, self.unnamed = [], [], [], []
        self.cell = self.heading = None
        self.is_silent, self.labels = False, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, tuple(found)))
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag in ("th", "td", "caption"):
            self.cell = ""
            if tag == "th" and "scope" not in found:
                self.unnamed.append(tag)
        elif tag in ("h1", "h2", "h3"):
            self.heading = (int(tag[1]), "")
        elif tag == "label":
            self.labels += 1
        elif tag in ("input", "textarea"):
            if not self.labels:
                self.unnamed.append(tag)
            assert "value" not in found
            self.cell = None
        self.is_silent = tag == "span"

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[-1].caption = self.cell
        elif tag in ("th", "td"):
            self.tables[-1].rows[-1].append(self.cell)
        elif tag in ("h1", "h2", "h3"):
            self.headings.append(self.heading)
            self.heading = None
        elif tag == "label":
            self.labels -= 1
        self.is_silent = False

    def handle_data(self, data):
        if self.heading:
            self.heading = (self.heading[0], self.heading[1] + data)
        if self.cell is not None and not self.is_silent:
            self.cell += data


def number(text):
    """Read a printed number; NaN where there is none."""
    found = (text or "").replace("−", "-").replace("∞", "inf").replace("≈", "")
    try:
        return float(found)
    except ValueError:
        return float("nan")


def halves(sheet):
    """Return what is to be done and the solutions, as they are read."""
    whole, alone = paper(sheet), paper(sheet, with_solutions=False)
    body, solved = whole.split('<section class="solutions">')
    strip = re.compile(r'<p class="screen">.*?</p>')
    assert strip.sub("", alone).split("</main>")[0].rstrip() == strip.sub("", body).rstrip()
    return Read(alone), Read(solved)


def table(read, start):
    return next(each for each in read.tables if each.caption.startswith(start))


# ------------------------------------------------------------------------------- the tasks


@pytest.mark.parametrize("head", [1, 2])
@pytest.mark.parametrize("text", [*SENTENCES, LONG])
def test_the_tasks_are_about_a_token_whose_weights_are_worth_computing(toy, text, head):
    for focus in range(len(toy.trace(text).tokens)):
        scene = scene_of(toy, text, head=head, word=focus)
        noticeable = (scene.steps.weights >= 0.05).sum(axis=1)
        word = worth_computing(scene)
        assert noticeable[word] >= 3
        # The token that was chosen is left only where it must be.
        assert (word == focus) == (noticeable[focus] >= 3)


def test_the_points_of_the_parts_add_up_to_those_at_the_top(toy):
    body = paper(made(scene_of(toy, SENTENCES[0])), with_solutions=False)
    assert sum(map(int, re.findall(r"/ (\d+) point", body))) == int(re.search(r"> / (\d+)</label>", body)[1])


@pytest.mark.parametrize(
    ("text", "head", "mask", "word"), combinations([*SENTENCES, LONG], [0, 1, 2], ["none", "causal"], [1, 4])
)
def test_the_solutions_follow_from_the_printed_numbers(toy, text, head, mask, word):
    scene = scene_of(toy, text, head=head, word=word, mask=mask)
    todo, solved = halves(made(scene))
    # Task 1.
    printed, done = table(todo, "The query"), table(solved, "The query")
    q, k = (np.array(printed.numbers(name)[:-2]) for name in ("q of", "k of"))
    assert not any(printed.row("product"))
    products = q * k
    assert done.numbers("product")[:-1] == pytest.approx([*products, products.sum()], abs=1e-9)
    scaled = products.sum() / 2.83
    assert done.numbers("product")[-1] == pytest.approx(scaled, abs=0.0501)
    # Task 2: of the row that is given, one number is that of task 1.
    row, filled = table(todo, "The row of"), table(solved, "The row of")
    n = len(row.rows[0]) - 2
    has_rest = row.rows[0][-2].endswith(("others", "other"))
    n_keys = n - has_rest
    given, scores = (each.numbers("scaled")[:n_keys] for each in (row, filled))
    assert sum(np.isnan(given)) == 1
    assert scores[int(np.flatnonzero(np.isnan(given))[0])] == pytest.approx(scaled, abs=0.0501)
    scores = np.array(scores)
    exps = np.round(np.exp(scores - scores.max()), 2)
    rest = row.numbers("exp")[n_keys : n_keys + has_rest]
    assert filled.numbers("exp")[:n_keys] == pytest.approx(exps, abs=1e-9)
    total = exps.sum() + sum(rest)
    assert filled.numbers("exp")[-1] == pytest.approx(total)
    weights = np.array([*exps, *rest]) / total
    assert filled.numbers("weight")[:n] == pytest.approx(weights, abs=0.00501)
    # Task 3.
    given, summed = table(todo, "What"), table(solved, "What")
    weights = filled.numbers("weight")[:n]
    values = [cells[:-1] for name, *cells in given.rows if name.startswith("v,")]
    results = [[number(cell) for cell in cells] for name, *cells in summed.rows if name.startswith("weight × v")]
    assert len(values) == len(results) == 2
    for v, result in zip(values, results, strict=True):
        parts = np.array([number(each) for each in v]) * weights
        assert result[:-1] == pytest.approx(parts, abs=0.00501)
        assert result[-1] == pytest.approx(sum(result[:-1]))


@pytest.mark.parametrize("text", [SENTENCES[0], LONG])
@pytest.mark.parametrize("head", [0, 1, 2])
def test_the_solutions_are_compared_with_the_model(toy, text, head):
    scene = scene_of(toy, text, head=head, word=3)
    steps, _, solved = scene.steps, *halves(made(scene))
    row = table(solved, "The row of")
    own = row.numbers("weight in the model")
    assert sum(own[:-1]) == pytest.approx(1, abs=0.051)
    names = {name: place for place, name in enumerate(scene.key_names)}
    shown = [names[each] for each in row.rows[0][1:-1] if each in names]
    assert own[: len(shown)] == pytest.approx(steps.weights[3][shown], abs=0.0051)
    # Where a hand that rounds is still near the truth: a tenth in two scores moves a weight by a tenth at most.
    assert row.numbers("weight")[: len(shown)] == pytest.approx(steps.weights[3][shown], abs=0.1)
    outputs = [number(cells[-1]) for name, *cells in table(solved, "What").rows if name.startswith("dimension")]
    largest = np.sort(-np.abs(steps.head_outputs[3]))[:2]
    assert sorted(-abs(each) for each in outputs) == pytest.approx(sorted(largest), abs=0.0051)
    scores = table(solved, "The query").numbers("in the model")
    key = names[re.search("the key of “(.*)”", table(solved, "The query").caption)[1]]
    assert scores[-2:] == pytest.approx([steps.scores[3, key], steps.scaled_scores[3, key]], abs=0.0051)


def test_exp_is_looked_up_in_a_table_that_is_right(toy):
    rows = table(halves(made(scene_of(toy, SENTENCES[0])))[0], "exp(x)").rows[1:]
    for name, *cells in rows:
        xs = [-(abs(number(name)) + tenth / 10) for tenth in range(10)]
        assert [number(cell) for cell in cells] == pytest.approx(np.exp(xs), abs=0.00501)
    assert len(rows) == 6
    assert np.exp(-6) < 0.005


# ------------------------------------------------------------------------------- the matrix of the view


@pytest.fixture(scope="module")
def scenes(toy):
    """A scene of every model, cross-attention too, with the head that its tasks are about."""

    def make(name):
        if name == "cross":
            return scene_of(load("translator-fr-en"), "le chat noir dort", part="cross"), scene_of(toy, SENTENCES[0])
        model = load(name)
        text = model.info.reading.first
        scene = scene_of(model, text)
        is_text = model.info.reading.takes_sentences
        return scene, scene if name == "toy" else scene_of(toy, text if is_text else SENTENCES[0], head=2)

    return make


@pytest.mark.parametrize("model", sweep([*MODELS, "cross"], quick=["toy", "minilm-l6", "cross"]))
@pytest.mark.parametrize("step", KEYS)
def test_every_step_of_every_model_has_a_worksheet(scenes, model, step):
    scene, small = scenes(model)
    sheet = made(scene, small, step)
    todo, solved = halves(sheet)
    assert todo.headings[0][1] == f"Worksheet: {step_of(step).heading(scene)}"
    levels = [level for level, _ in todo.headings + solved.headings]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert todo.unnamed == []
    assert len(sheet.questions) == 4
    blanks = list(sheet.blanks)
    heard = [int(each) for each in re.findall(r"blank (\d+): to fill in", paper(sheet))]
    assert heard == list(range(1, len(blanks) + 1))
    assert [int(each) for each in re.findall(r"blank (\d+): <", paper(sheet))] == heard
    assert all(blank.answer for blank in blanks)
    if small is not scene:
        assert says(sheet.origin, scene.d_head)
    assert all(len(cells) <= MOST + 1 for each in todo.tables for _, *cells in each.rows)


@pytest.mark.parametrize("model", ["minilm-l6", "smollm2-135m"])
def test_missing_weights_make_rows_add_up_to_one(scenes, model):
    scene, small = scenes(model)
    todo, solved = (each.tables[0] for each in halves(made(scene, small, "softmax")))
    changed = 0
    for (_, *before), (_, *after) in zip(todo.rows[1:], solved.rows[1:], strict=True):
        blank = [place for place, cell in enumerate(before) if cell is None]
        assert len(blank) <= 1
        if blank:
            changed += 1
            assert sum(map(number, after)) == pytest.approx(1)
    assert changed >= len(todo.rows) - 3


def test_a_row_is_scaled_from_the_scores_before(scenes):
    scene, small = scenes("minilm-l6")
    todo, solved = halves(made(scene, small, "scale"))
    scores = todo.tables[0].numbers("score")
    assert scores == pytest.approx(scene.steps.scores[scene.word], abs=0.0051)
    name = scene.names[scene.word]
    assert not any(todo.tables[1].row(name))
    assert solved.tables[0].numbers(name) == pytest.approx(np.array(scores) / 5.66, abs=0.0051)
    assert solved.tables[0].numbers(f"{name} in the model") == pytest.approx(
        scene.steps.scaled_scores[scene.word], abs=0.0051
    )


def test_a_row_is_masked_as_the_others_show(scenes):
    scene, small = scenes("smollm2-135m")
    todo, solved = halves(made(scene, small, "mask"))
    name = scene.names[scene.word]
    wanted = scene.steps.masked_scores[scene.word]
    assert solved.tables[0].numbers(name) == pytest.approx(wanted, abs=0.0051)
    assert "−∞" in solved.tables[0].row(name)
    assert "−∞" not in todo.tables[0].row("scaled")


def test_the_vector_of_the_toy_is_the_sum_of_its_parts(scenes):
    scene, _ = scenes("toy")
    todo, solved = halves(made(scene, step="embed"))
    parts = [np.array(todo.tables[0].numbers(name)) for name in ("Token embedding", "Positional encoding")]
    assert solved.tables[0].numbers(scene.names[scene.word]) == pytest.approx(sum(parts))


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
def test_the_words_of_tokens_are_the_models_and_the_first_is_given(toy, model):
    scene = scene_of(load(model), "The animal didn't cross, unbelievably!", word=4)
    todo, solved = (each.tables[0] for each in halves(made(scene, scene_of(toy, SENTENCES[0]), "tokens")))
    shown = [scene.tokens[int(position)] for _, position, _ in solved.rows[1:]]
    assert len(shown) == 6
    wanted = ["–" if token.word is None else str(token.word) for token in shown]
    assert [cells[-1] for cells in solved.rows[1:]] == wanted
    given = [cells[-1] for cells in todo.rows[1:]]
    (first,) = (each for each in given if each not in (None, "–"))
    assert first == next(each for each in wanted if each != "–")


@pytest.mark.parametrize("step", ["qkv", "scores", "heads"])
def test_the_largest_of_each_row_is_the_largest(scenes, step):
    scene, small = scenes("minilm-l6")
    todo, solved = (each.tables[0] for each in halves(made(scene, small, step)))
    for (_, *before), (_, *after) in zip(todo.rows[1:], solved.rows[1:], strict=True):
        assert before[-1] is None
        numbers = np.array([number(cell) for cell in after[:-1]])
        wanted = {todo.rows[0][1 + place] for place in np.flatnonzero(numbers == numbers.max())}
        assert set(after[-1].split(" / ")) == wanted


@pytest.mark.parametrize("step", ["scores", "scale", "mask", "softmax", "sum"])
@pytest.mark.parametrize("head", [0, 1, 2])
def test_what_the_toys_tasks_ask_for_is_not_in_its_matrix(toy, step, head):
    scene = scene_of(toy, SENTENCES[1], head=head, word=3)
    sheet = made(scene, step=step)
    todo, solved = halves(sheet)
    name = scene.names[3]
    before, after = todo.tables[0].row(name), solved.tables[0].row(name)
    found = {blank.answer for task in sheet.tasks for grid in task.grids for blank in grid.blanks}
    filled = [new for old, new in zip(before, after, strict=True) if old is None]
    assert filled
    assert set(filled) <= found
    if step == "softmax":
        assert len(filled) == len(before)


def test_of_a_long_sentence_a_part_is_printed_and_said(toy):
    scene = scene_of(toy, LONG, word=20)
    n = len(scene.tokens)
    assert n > 3 * MOST
    sheet = made(scene, step="softmax")
    todo, _ = halves(sheet)
    assert says(sheet.view.words, n, "17", "22")
    assert says(sheet.view.words, n, "8")
    assert len(todo.tables[0].rows) == 1 + 6
    row = table(todo, "The row of")
    assert row.rows[0][-2] == f"{n - 8} others"
    # None that is left out has more weight than one that is shown.
    names = {name: place for place, name in enumerate(scene.key_names)}
    shown = {names[each] for each in row.rows[0][1:-2]}
    weights = scene.steps.weights[20]
    assert min(weights[list(shown)]) >= max(weights[key] for key in range(n) if key not in shown)


# ------------------------------------------------------------------------------- what is not told


@pytest.mark.parametrize("model", ["toy", "minilm-l6"])
@pytest.mark.parametrize("step", KEYS)
def test_nothing_before_the_solutions_tells_them(scenes, model, step):
    scene, small = scenes(model)
    sheet = made(scene, small, step)
    alone, whole = paper(sheet, with_solutions=False), paper(sheet)
    for told in [
        *(each.reason for each in sheet.questions),
        *(why for each in sheet.questions for why in each.whys if why),
        *(task.told for task in (sheet.view, *sheet.tasks) if task.told),
    ]:
        assert told in whole
        assert told not in alone
    assert "<h2>Solutions</h2>" not in alone
    tasks = (sheet.view, *sheet.tasks) if small is scene else (sheet.view,)
    asked = [number(blank.answer) for task in tasks for grid in task.grids for blank in grid.blanks]
    words = " ".join(text for each in sheet.questions for text in (each.question, *each.answers))
    said = [number(each) for each in re.findall(r"[−-]?\d+\.\d+", words)]
    assert [one for one in said for other in asked if other % 1 and abs(one - other) < 0.01] == []


# ------------------------------------------------------------------------------- whatever is typed

HOSTILE = [
    "<script>alert(1)</script>",
    "</main>",
    "שלום עולם",
    "\u202eabc",
    "$focus {n}",
    "a\ud800b",
    "&lt;",
    "x" * 300,
]


@given(st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=60)), st.sampled_from(KEYS), st.data())
def test_whatever_is_typed_is_text_and_makes_a_worksheet(text, step, data):
    toy = load("toy")
    try:
        trace = toy.trace(text, mask=data.draw(st.sampled_from(MASK_NAMES)))
    except ValueError:
        return
    place = data.draw(st.integers(0, len(trace.tokens) - 1))
    scene = HeadContext(trace, 0, data.draw(st.integers(0, 2)), place)
    sheet = made(scene, step=step)
    todo, solved = halves(sheet)
    assert {tag for tag, _ in todo.tags} <= KNOWN
    assert {tag for tag, _ in solved.tags} <= KNOWN | {"dl", "dt", "dd"}
    assert todo.unnamed == solved.unnamed == []
    paper(sheet).encode()


KNOWN = {
    *("html", "head", "meta", "link", "title", "style", "body", "main", "section", "div", "p", "h1", "h2", "h3"),
    *("label", "input", "textarea", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "bdi", "b"),
    *("strong", "em", "ul", "li", "sub", "a"),
}


def test_a_picture_is_not_written_out_and_its_tasks_have_a_text_of_their_own(scenes):
    scene, small = scenes("vit-digits")
    sheet = made(scene, small)
    assert scene.trace.text not in paper(sheet)
    assert SENTENCES[0] in sheet.origin


def test_a_step_that_nobody_has_heard_of_has_a_worksheet(toy):
    scene = scene_of(toy, SENTENCES[0], word=2)
    todo, solved = halves(worksheet_of(made_up_step.STEP, scene, scene, text="Any", place="Here"))
    assert todo.tables[0].caption == "−A·log₂ A"
    numbers = solved.tables[0].numbers("cat")[:-1]
    assert solved.tables[0].row("cat")[-1] == todo.tables[0].rows[0][1 + int(np.argmax(numbers))]


def test_a_lonely_token_has_tasks_too(toy):
    sheet = made(scene_of(toy, "Hi", word=0))
    row = table(halves(sheet)[1], "The row of")
    assert row.numbers("weight")[0] == 1
