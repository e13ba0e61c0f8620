"""The numbers on the page are those the models compute on the typed sentence."""

import csv
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention.core.steps import output_projection
from attention.lesson.initial_selection import first_place
from attention.lesson.steps import keys
from tests.browser.tab import Picture, is_rounded

MODELS = ["toy", "minilm-l6"]
SENTENCE = "My old dog chased a ball"


@pytest.fixture(scope="module")
def typed(new_shared_tab):
    """For each model a tab in which somebody has typed a sentence of their own."""
    tabs = {}

    def type_it(model):
        if model not in tabs:
            tabs[model] = new_shared_tab().go(model=model).type_sentence(SENTENCE)
            tabs[model].expect_query(text=SENTENCE, **({"model": model} if model == "toy" else {}))
        # A browser takes its time with tabs that nobody looks at.
        tabs[model].page.bring_to_front()
        return tabs[model]

    return type_it


def place_of(models, model):
    """The trace of the sentence, and the layer and head that it opens."""
    trace = models[model].trace(SENTENCE)
    layer, head = first_place(trace.info, SENTENCE)
    return trace, trace.layers[layer], trace.layers[layer].head(head)


def focus_on(tab, trace, word):
    """Choose this word of the sentence, and return its place."""
    place = [token.text for token in trace.tokens].index(word)
    tab.select("Word", f"{place} {word}")
    return place


@pytest.mark.parametrize("model", [MODELS[0], pytest.param(MODELS[1], marks=pytest.mark.quick)])
def test_a_typed_sentence_changes_every_step_to_its_own_words_and_numbers(typed, models, model):
    tab = typed(model).to_step("Tokens")
    trace, layer, steps = place_of(models, model)
    texts = [token.text for token in trace.tokens]
    focus = focus_on(tab, trace, "dog")
    wanted = {
        "embed": {"inputs": layer.inputs},
        "qkv": {"queries": steps.queries, "keys": steps.keys, "values": steps.values},
        "scores": {"scores": steps.scores},
        "scale": {"scaled": steps.scaled_scores},
        "mask": {"masked": steps.masked_scores},
        "softmax": {"weights": steps.weights},
        "sum": {
            "contributions": np.vstack([steps.weights[focus][:, None] * steps.values, steps.head_outputs[focus]]),
            "outputs": steps.head_outputs,
        },
        "heads": {"change": output_projection(layer.joined(), layer.projections.W_O, layer.projections.b_O)},
    }
    proof = f"recomputed vs. {models[model].info.name}'s output: largest difference {trace.check():.1e}"
    for step in keys():
        if step == "tokens":
            expect(tab.chips.locator(".text")).to_have_text(texts)
        else:
            tab.next()
        # Where no mask hides anything, no word is spoken of.
        if step != "mask":
            expect(tab.words).to_contain_text("“dog”")
        expect(tab.words).not_to_contain_text(re.compile(r"\bcat\b"))
        for name, values in wanted.get(step, {}).items():
            matrix = tab.matrix(name)
            matrix.expect_to_show(values, n_totals=int(name == "contributions"))
            if name != "contributions":
                assert matrix.labels() == texts
        # The proof is true, and in sight without scrolling.
        expect(tab.proof).to_contain_text(proof)
        expect(tab.proof).to_be_in_viewport(ratio=1)
        expect(tab.proof).to_contain_text("✓")


def test_a_masked_cell_shows_minus_infinity_and_a_weight_of_nothing(tab, models):
    tab.go(step="mask", mask="causal", model="toy")
    steps = models["toy"].trace("The cat sat on the mat", mask="causal").layers[0].head(1)
    tab.matrix("masked").expect_to_show(steps.masked_scores)
    expect(tab.matrix("masked").cell(0, 5)).to_have_text("−∞")
    tab.next()
    tab.matrix("weights").expect_to_show(np.where(np.tri(6, dtype=bool), steps.weights, -np.inf), masked="0")


def test_without_a_mask_what_a_decoder_would_hide_is_grey_and_has_its_scores(tab, models):
    tab.go(step="mask", model="toy")
    matrix = tab.matrix("masked")
    matrix.expect_to_show(models["toy"].trace("The cat sat on the mat").layers[0].head(1).masked_scores)
    grey = matrix.root.locator(".cells rect.later[data-row]")
    places = grey.evaluate_all("all => all.map(({ dataset }) => [Number(dataset.row), Number(dataset.column)])")
    assert places == [[row, column] for row in range(6) for column in range(row + 1, 6)]
    expect(matrix.root.locator("div.later")).to_contain_text("the hatched cells")
    tab.select("Mask", "causal")
    expect(matrix.cell(0, 5)).to_have_text("−∞")
    expect(grey).to_have_count(0)
    expect(matrix.root.locator("div.later")).to_be_hidden()


# Text, layer and head; which keys a token may see follows from what the model is.
DECODERS = {
    "smollm2-135m": ({"text": SENTENCE}, (13, 8)),
    "translator-fr-en": ({"text": "le chat noir dort", "part": "decoder"}, (0, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", DECODERS)
def test_what_a_decoder_hides_stays_hatched_wherever_its_weights_are_drawn(tab, models, model):
    query, (layer, head) = DECODERS[model]
    link = {"model": model, **query, "layer": str(layer + 1), "head": str(head + 1), "word": "1"}
    trace = models[model].trace(query["text"]).part(query.get("part", "encoder"))
    steps, n = trace.layers[layer].head(head), len(trace.tokens)
    seen = np.tri(n, dtype=bool)
    weights = np.where(seen, steps.weights, -np.inf)

    tab.go(**link, step="softmax")
    matrix = tab.matrix("weights")
    matrix.expect_to_show(weights, masked="0")
    matrix.click(1, n - 1)
    expect(matrix.readout).to_contain_text("0 (masked)")
    expect(tab.detail.first).to_contain_text("weight 0.00")
    expect(tab.words.filter(has_text="−∞").first).to_be_visible()
    # The small pictures are clear there, and hatched below.
    canvas = tab.heads().nth(head).locator("canvas")
    alphas = canvas.evaluate(
        "canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
        ".filter((_, index) => index % 4 === 3)"
    )
    assert np.array_equal(np.array(alphas).reshape(n, n) > 0, seen)
    assert "repeating-linear-gradient" in canvas.evaluate("canvas => getComputedStyle(canvas).backgroundImage")
    rows = table_of(tab.go(**link, step="softmax", cell="weights-1-1"), "parts")
    assert [row["weight"].endswith(" (masked)") for row in rows] == (~seen[1]).tolist()

    tab.go(**link, step="sum")
    contributions = np.vstack([np.where(seen[1][:, None], steps.weights[1][:, None] * steps.values, -np.inf)])
    total = steps.head_outputs[1:2]
    tab.matrix("contributions").expect_to_show(np.vstack([contributions, total]), masked="0", n_totals=1)

    tab.go("all_heads", **link)
    picture = Picture(tab.page, tab.page.locator(".st-key-head_matrix").first)
    picture.expect_to_show(weights, masked="0")

    # Of the lines, the numbers beside the tokens that the second one may look at.
    tab.page.locator(".head-view .query .token").nth(1).hover()
    found = tab.page.locator(".head-view .key .token")
    expect(found.locator(".number")).to_have_text(
        [f"{weight:.2f}" if is_seen else "0" for weight, is_seen in zip(steps.weights[1], seen[1], strict=True)]
    )
    expect(tab.page.locator(".head-view .key .token.hidden")).to_have_count(n - 2)

    tab.go("neuron_view", **link)
    keys = tab.page.locator(".neuron .keys .row")
    expect(keys.locator(".weight .number")).to_have_text(
        [f"{weight:.2f}" if is_seen else "0" for weight, is_seen in zip(steps.weights[1], seen[1], strict=True)]
    )
    expect(tab.page.locator(".neuron .keys .row.hidden")).to_have_count(n - 2)
    expect(keys.nth(n - 1)).to_have_attribute("aria-label", re.compile("masked; weight 0$"))


# ------------------------------------------------------------------------- where a number comes from


@pytest.mark.parametrize("model", MODELS)
def test_a_clicked_score_opens_into_the_products_that_make_it(typed, models, model):
    tab = typed(model).to_step("Scores")
    trace, _, steps = place_of(models, model)
    tab.matrix("scores").click(4, 1)
    expect(tab.detail).to_contain_text(f"q({trace.tokens[4].text}) · k({trace.tokens[1].text}) = ")
    rows = table_of(tab, "parts")
    products = [float(row["q × k, by dimension"]) for row in rows]
    np.testing.assert_allclose(products, steps.queries[4] * steps.keys[1], atol=1e-5)
    told = re.search(r"= (\S+)", tab.detail.inner_text())[1]
    assert is_rounded(told, sum(products))
    # The bars are drawn: as many as there are products.
    bars = tab.page.locator(".st-key-main_parts .bar")
    expect(bars).to_have_count(len(products))
    # The row that was clicked has come into focus.
    expect(tab.words).to_contain_text(f"“{trace.tokens[4].text}” scores highest with")


# ------------------------------------------------------------------------------- code and tables


def table_of(tab, name):
    """Take the table of this name as CSV, and read it."""
    if name == "parts" and not tab.page.get_by_role("link", name="parts.csv").is_visible():
        tab.page.get_by_text("These parts as a table").click()
    download = tab.settled().take_away(f"{name}.csv")
    assert download.suggested_filename == f"{name}.csv"
    with download.path().open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
