"""Every page with the kinds of models that people use today: nothing breaks, and every proof that is shown holds."""

import pytest

from attention.labs import whole
from attention.models import local
from attention.pages import ALL_HEADS, CODE_LAB, COMPARE, NEURON_VIEW, OF_LABS, PAGES, STEP_BY_STEP
from tests.sweep import sweep
from tests.tiny_models import OTHERS, TODAY, make

TEXT = "The cat sat on the mat, and the birds sang."
# Those that read what is in the link, and show how well it was worked out once more.
PROVEN = [STEP_BY_STEP, ALL_HEADS, NEURON_VIEW]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("today")
    return {kind: make(kind, root / f"tiny-{kind}") for kind in (*TODAY, *OTHERS)}


@pytest.fixture
def open_tiny(folders, open_page, monkeypatch):
    """Open a page with a model of random numbers that lies in a folder of the owner's."""

    def open_(page, kind, **query):
        monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folders[kind]))
        shown = open_page(page.file, model=f"tiny-{kind}", text=TEXT, layer="1", head="1", **query)
        assert shown.exceptions == []
        assert shown.view.model == f"tiny-{kind}"
        assert [notice for notice in shown.notices if notice.startswith("The link")] == []
        return shown

    return open_


@pytest.mark.parametrize("kind", sweep((*TODAY, *OTHERS), quick=["gemma2"]))
def test_every_step_is_told_and_proven(open_tiny, kind):
    shown = open_tiny(STEP_BY_STEP, kind, step="tokens")
    while True:
        assert shown.exceptions == []
        assert [proof.startswith("✓") for proof in shown.proofs] == [True]
        if shown.view.step == "heads":
            break
        shown.go()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TODAY, *OTHERS])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_every_page_opens(open_tiny, few_sentences, page, kind):
    query = {"versus": "A small dog ran"} if page is COMPARE else {}
    shown = open_tiny(page, kind, **query)
    if page in PROVEN:
        assert [proof.startswith("✓") for proof in shown.proofs] == [True]


@pytest.mark.parametrize(
    ("kind", "step", "told"),
    sweep(
        [
            ("qwen3", "qkv", "This model then normalises every query and every key with RMSNorm"),
            ("gemma3_text", "qkv", "This model then normalises every query and every key with RMSNorm"),
            ("gpt_neox", "qkv", "Only the first 6 of the 12 numbers are rotated"),
            ("gemma2", "scale", "Then this model caps its scores softly"),
            ("mistral", "mask", "those less than 5 places before it (a sliding window"),
            ("qwen2", "mask", "of its 3 layers, those with a window are 1 and 3"),
            ("modernbert", "mask", "of its 3 layers, 2 also hide what is far away"),
            ("albert", "embed", "a matrix of 20 × 36 makes vectors of 36 numbers"),
            ("bloom", "embed", "that of the vector after this first norm, LayerNorm"),
            ("bloom", "scores", "position bias"),
            ("bloom", "tokens", "√d_k times as large"),
            ("olmo2", "tokens", "not known part by part"),
            ("olmo2", "embed", "is not known of this kind of model"),
            ("olmo2", "qkv", "the weights that produced"),
            ("starcoder2", "embed", "Where it stands"),
            ("gpt_neox", "tokens", "read the same vectors, and what both give is added"),
            ("gemma2", "heads", "Before it is added, this model brings ΔE to another size"),
        ],
        quick=[("gemma2", "scale", "Then this model caps its scores softly")],
    ),
)
def test_what_a_model_does_beside_the_plain_steps_is_said(open_tiny, kind, step, told):
    assert told in " ".join(open_tiny(STEP_BY_STEP, kind, step=step).text.split())


@pytest.mark.parametrize(
    ("kind", "why"),
    sweep(
        [("gpt_neox", "read the same vectors"), ("olmo2", "not known part by part")],
        quick=[("gpt_neox", "read the same vectors")],
    ),
)
def test_a_block_that_cannot_be_shown_is_no_other_model(open_tiny, kind, why):
    [told] = [notice for notice in open_tiny(OF_LABS[whole.LAB], kind).notices if "block" in notice]
    assert told.startswith(f"The parts of a block of tiny-{kind} cannot be shown one after another.")
    assert why in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("gemma2", "turns its queries and keys"),
        ("qwen3", "normalises its queries and keys"),
        ("mpnet", "position bias"),
    ],
)
def test_the_code_lab_says_why_the_five_ways_cannot_stand_for_a_layer(open_tiny, kind, why):
    assert any(why in notice for notice in open_tiny(CODE_LAB, kind).notices)
