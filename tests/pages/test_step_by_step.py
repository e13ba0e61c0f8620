"""The page *Step by step*: every combination of choices runs, and each choice has its effect."""

import contextlib
import io
import re
from urllib.parse import parse_qsl

import pytest

from attention.core.masks import MASK_NAMES
from attention.core.reading import PICTURE
from attention.lesson.steps import STEPS, keys
from attention.models import get_info, list_models
from attention.page.pages import STEP_BY_STEP
from attention.page.parameters import other_model
from attention.page.settings import HEAD, LAYER
from tests.loaded import load
from tests.sweep import sweep
from tests.unit.lesson.telling import facts_in, is_told

MODELS = [info.model_id for info in list_models()]
NAMES = {info.model_id: info.name for info in list_models()}


def proof_line(model_id, text, mask="none"):
    """The line that must be at the bottom of the page, from the check of the trace itself."""
    check = load(model_id).trace(text, mask=mask).check()
    return f"✓ rows sum to 1 · recomputed vs. {NAMES[model_id]}'s output: largest difference {check:.1e}"


# ---------------------------------------------------------------------------- all of it runs


# Every two of model, mask and side by side together, also those that a model does not take.
TOGETHER = [
    *((model, "none", "0") for model in MODELS),
    *((model, "causal", "1") for model in MODELS),
    *((model, "padding", str(number % 2)) for number, model in enumerate(MODELS)),
    ("minilm-l6", "none", "1"),
    ("toy", "causal", "0"),
]
QUICK = [("toy", "none", "0"), ("minilm-l6", "padding", "1"), ("smollm2-135m", "causal", "1")]


@pytest.mark.parametrize(("model", "mask", "beside"), sweep(TOGETHER, QUICK))
def test_every_step_runs_with_every_model_mask_and_model_beside_and_is_proved(steps_of, model, mask, beside):
    seen = []
    models = {info.model_id: info for info in list_models()}
    reading = models[model].reading
    # French and pictures have no toy beside them, and pictures no padding, which is said.
    shown_models = [model, other_model(model, models)] if beside == "1" and reading.takes_sentences else [model]
    is_taken = mask != "padding" or reading is not PICTURE
    wanted = [proof_line(each, reading.first, mask if is_taken else "none") for each in shown_models]
    for shown in steps_of(model=model, mask=mask, beside=beside):
        assert ["mask=padding" in notice for notice in shown.notices] == ([] if is_taken or seen else [True])
        assert shown.proofs == wanted
        assert re.search(r"\b(sat|cat|the \(\d\)|visite|septembre|en\b|l'|r\dc\d)|\[CLS\]", shown.text)
        named = "Cut the picture into patches" if reading is PICTURE and not seen else STEPS[len(seen)].heading(None)
        headers = [header for header in shown.headings(2) if header != "Over the picture"]
        assert headers == [f"{len(seen) + 1}. {named}" for _ in shown_models]
        seen.append(shown.view.step)
    assert tuple(seen) == keys()


@pytest.mark.parametrize("model", sweep(MODELS, quick=["toy", "minilm-l6"]))
@pytest.mark.parametrize("step", keys())
def test_every_picture_is_described_and_has_a_table_and_code_that_prints_what_it_says(open_page, step, model):
    shown = open_page(model=model, step=step)
    assert_is_described(shown, step)
    assert_has_tables(shown.choose("main_panel", "table"))
    assert_code_runs(shown.choose("main_panel", "numpy"))


def assert_is_described(shown, step):
    assert "main_parts" in shown.charts() or step == "tokens"
    for key in shown.components():
        data = shown.component(key)
        assert data.get("alt") or data.get("label") or key == "stepper"


def assert_has_tables(shown):
    # The numbers under the sentence are those of the step's own picture, or of the softmax.
    pictures = [
        key
        for key in shown.components()
        if "isWhole" not in shown.component(key)
        and key not in ("stepper", "sentence", "main_next_layer", "main_next", "map", "drawing", "digits")
        and key not in shown.charts()
    ]
    offered = set(shown.files) - {"parts.csv", "next-token.csv", "onward.csv"}
    named = {key: shown.component(key).get("name", key.removeprefix("main_")) for key in pictures}
    wanted = {f"{name}.csv" for name in named.values()}
    # What the main picture was before may have one, too.
    change = shown.component("main_stage")["change"] if "main_stage" in pictures else None
    assert wanted <= offered <= wanted | ({f"{change['before']['name']}.csv"} if change and change["before"] else set())


def assert_code_runs(shown):
    (code,) = shown.codes
    *_, last = code.strip().splitlines()
    said = last.split("# ")[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    # After the numbers, the comment may say what they are.
    assert re.match(rf"{re.escape(printed.getvalue().strip())}(,|$)", said)


# ------------------------------------------------------------------------------- what is chosen


def test_a_clicked_cell_of_the_link_is_explained(open_page):
    shown = open_page(model="toy", step="scores", cell="scores-3-2")
    steps = load("toy").trace("The cat sat on the mat").layers[0].head(1)
    assert f"q(on) · k(sat) = {steps.scores[3, 2]:.2f}" in " ".join(shown.text.split())
    assert shown.component("main_stage")["selected"] == [3, 2]


def test_side_by_side_has_a_layer_and_a_head_for_each(open_page):
    shown = open_page(step="softmax", beside="1", layer="2", head="3", beside_head="1")
    shown.choose("beside_head", 1).choose("layer", 3)
    assert "layer 4, head 3" in shown.component("main_stage")["alt"]
    assert "layer 1, head 2" in shown.component("other_stage")["alt"]
    assert shown.component("main_stage")["rows"][0] == "[CLS]"
    assert shown.component("other_stage")["rows"][0] == "the"


def test_a_word_in_focus_that_was_cut_is_found_in_the_other_model(open_page):
    shown = open_page(text="Zyzzyvas sleep", step="softmax", beside="1", word="3")
    main, other = shown.component("main_stage"), shown.component("other_stage")
    assert main["rows"][main["focusRow"]].startswith("##")
    assert other["rows"][other["focusRow"]] == "zyzzyvas"


# ----------------------------------------------------------------------------------- bad links


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"mask": "<b>all</b>"}, ["mask=<b>all</b>", "Showing none"]),
        ({"word": "99"}, ["word 99", "last is 7"]),
        ({"step": "scores", "cell": "scores-8-0"}, ["cell", "not here"]),
    ],
)
def test_a_link_that_says_nonsense_shows_the_default_and_says_so(open_page, query, words):
    shown = open_page(**query)
    (notice,) = shown.notices
    for expected in words:
        assert expected in notice
    assert len(shown.proofs) == 1


# ----------------------------------------------------------------------------------- bad text

NASTY = {
    "html": "<script>alert(1)</script> <img src=x onerror=alert(2)>",
    "markdown": "# **bold** [link](javascript:alert(1)) `code`",
    "latex": r"\frac{1}{2} $x^2$ $$y$$",
    "streamlit": ":red[x] :cat: :material/home: :blue-background[y]",
    "template": "$focus ${best} %s {0} {focus}",
    "controls": "one\x00two\x1b[31m\x7fthree\u2028four",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 family",
    "right to left": "שלום עולם مرحبا \u202eevil",
    "combining": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢ zalgo",
    "surrogate": "one \ufffd two",
    "mask": "[MASK] [CLS] [SEP] [PAD] [UNK]",
    "one word": "cat",
    "one letter": "x",
    "punctuation": "!?…",
    "long word": "a" * 400,
    "csv": "=1+1 @x +y -z",
    "numbers": "3.14 1,000,000 ²",
}


@pytest.mark.parametrize("name", sweep(NASTY, quick=["html", "streamlit", "controls"]))
def test_whatever_is_typed_every_step_runs_and_nothing_is_interpreted(steps_of, name):
    for shown in steps_of(text=NASTY[name], beside="1", mask="padding"):
        if shown.view.step == keys()[0]:
            shown.choose("main_panel", "table").choose("other_panel", "numpy")
        assert len(shown.proofs) == 2
        for body in shown.html:
            assert not re.search(r"<(script|img|a|svg|iframe)\b", body)
        # What is set as a heading or a formula has only our own words in it.
        for words in (*shown.headings(), *shown.captions, *shown.formulas):
            assert not re.search(r"alert|:red|bold|frac\{1\}|best|zalgo", words)


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\x00"])
@pytest.mark.parametrize("page", ["app.py", "pages/step_by_step.py"])
def test_no_text_is_answered_with_an_invitation(open_page, page, text):
    shown = open_page(page, text=text, step="scores")
    (notice,) = shown.notices
    assert "Type a sentence" in notice
    shown.choose("text", "cat and mouse")
    assert shown.notices == []
    assert shown.proofs


def test_text_that_nobody_can_see_is_no_reason_to_fail(steps_of):
    for shown in steps_of(text="\u200b", beside="1"):
        assert shown.notices


# The longest of all runs with the masks that leave most and least to see.
LONGEST = [*(("toy", 64, mask) for mask in MASK_NAMES), *(("minilm-l6", 512, mask) for mask in ("none", "padding"))]


@pytest.mark.parametrize(("model", "limit", "mask"), sweep(LONGEST, quick=[("toy", 64, "padding")]))
def test_the_longest_text_runs_at_every_step_and_the_cut_is_told(steps_of, model, limit, mask):
    words = " ".join(f"word{i}" for i in range(400))[:2400]
    for shown in steps_of(text=words, model=model, mask=mask):
        (notice,) = shown.notices
        kept = limit - 3 if mask == "padding" else limit
        assert f"{NAMES[model]} takes {kept} tokens here" in notice
        assert len(shown.proofs) == 1


def test_words_that_the_toy_guessed_are_named_at_the_first_step_and_matter_at_the_others_if_they_are_most(open_page):
    shown = open_page(text="Кошка сидит на коврике", model="toy", step="tokens")
    told = facts_in("".join(shown.html), "tokens/guessed")
    assert re.findall(r"\w+", told["words"]) == ["Кошка", "сидит", "на", "and", "коврике"]
    shown = open_page(text="Кошка сидит на коврике", model="toy", step="softmax")
    assert "4" in facts_in("".join(shown.html), "tokens/guessed-most")["guessed"]
    assert not is_told("tokens/guessed", "".join(shown.html))
    shown = open_page(text="The quokka sat on the mat", model="toy", step="softmax")
    assert not is_told("tokens/guessed-most", "".join(shown.html))


def matrices(shown):
    """The keys of the matrices of a page."""
    return [key for key in shown.components() if "titleRole" in shown.component(key)]


def test_the_factors_of_one_matrix_are_shown_at_a_time_and_let_go_of_the_cell(open_page):
    shown = open_page(model="toy", step="qkv", cell="keys-1-2", word="1")
    assert matrices(shown) == ["main_queries", "main_keys", "main_values"]
    shown.choose("factors", "Q")
    assert (shown.notices, shown.view.pane.cell) == ([], None)
    assert matrices(shown) == ["main_inputs", "main_W_Q", "main_b_Q", "main_queries"]
    assert shown.component("main_W_Q")["rows"][:3] == ["determiner", "pronoun", "noun"]
    assert shown.component("main_W_Q")["focusColumn"] == shown.component("main_queries")["selected"][1]
    shown.send("main_W_Q", "select", {"matrix": "W_Q", "row": 2, "column": 0})
    assert re.search("WQ.*noun.*0", shown.text)
    # No other step has these factors.
    assert "main_stage" in shown.go().components()


def test_the_last_step_leads_on_into_the_next_layer_and_to_other_pages(open_page):
    shown = open_page(step="heads", layer="5", head="3")
    assert "enters layer 6" in shown.text
    assert shown.component("main_onward")["labels"] == ["input", "ΔE", "sum", "LayerNorm", "feed-forward", "output"]
    for label in ("All heads ▸", "Compare ▸"):
        assert "layer=5" in shown.ways[label]
        assert "head=3" in shown.ways[label]
    shown.send("main_next_layer", "press", 0)
    assert (shown.view.step, shown.view.pane.layer, shown.view.pane.head) == ("embed", 5, 2)
    assert shown.component("main_inputs")["title"] == "X: input of layer 6"
    last = shown.choose("layer", 5).send("stepper", "choose", "heads")
    assert "main_next_layer" not in last.components()


@pytest.mark.parametrize("model", MODELS)
def test_the_end_of_every_models_layers_is_shown(open_page, model):
    for part in get_info(model).parts or ("encoder",):
        shown = open_page(model=model, step="heads", part=part)
        assert shown.notices == []
        assert "main_onward" in shown.components()


@pytest.mark.parametrize("query", [{"layer": "3", "head": "2"}, {"model": "smollm2-135m"}])
def test_a_deeper_layers_input_leads_to_the_embeddings_in_layer_1(open_page, query):
    shown = open_page(step="embed", **query)
    (link,) = [link for link in shown.ways.values() if "step=embed" in link]
    first = shown.open_link(STEP_BY_STEP, dict(parse_qsl(link)))
    assert {"main_inputs", "main_words"} <= set(first.components())
    assert first.view[LAYER] == 0
    assert first.view[HEAD] is not None
    assert not [link for link in first.ways.values() if "step=embed" in link]
