"""Every page with recent models: nothing breaks, and every displayed proof holds."""

import pytest

from attention.experiments.five_ways import why_not
from attention.lesson.steps import keys
from attention.models import get_info, load, local
from attention.page.content.registry import CONTENTS
from attention.page.labs import whole
from attention.page.pages import (
    ALL_HEADS,
    CODE_LAB,
    MANY_SENTENCES,
    NEURON_VIEW,
    OF_LABS,
    STEP_BY_STEP,
    SYNTAX_CHECK,
)
from tests.pages.test_memory import fetch, is_refused
from tests.sweep import sweep
from tests.tiny_models import OTHERS, PARALLEL, TODAY, make
from tests.unit.lesson.telling import facts_in

KINDS = (*TODAY, *OTHERS)
# Its projections are not found.
UNKNOWN = "deepseek_v3"
TEXT = "The cat sat on the mat, and the birds sang."
# Those that read what is in the link, and show how well it was worked out once more.
PROVEN = [STEP_BY_STEP, ALL_HEADS, NEURON_VIEW]
# The two pages about many sentences read them before they show anything.
SLOW = {MANY_SENTENCES, SYNTAX_CHECK}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("today")
    return {kind: make(kind, root / f"tiny-{kind}") for kind in (*KINDS, PARALLEL, UNKNOWN)}


@pytest.fixture
def link_to(folders, monkeypatch):
    """Return a link to a model of random numbers that lies in a folder of the owner's."""

    def link(kind, **query):
        monkeypatch.setenv(local.MODEL_DIRS_VARIABLE, str(folders[kind]))
        return {"model": f"tiny-{kind}", "text": TEXT, "layer": "1", "head": "1", **query}

    return link


@pytest.fixture
def open_tiny(link_to, open_page):
    def open_(page, kind, **query):
        opened = open_page(page.file, **link_to(kind, **query))
        assert opened.view.model == f"tiny-{kind}"
        assert [notice for notice in opened.notices if notice.startswith("The link")] == []
        return opened

    return open_


@pytest.mark.parametrize("kind", sweep(KINDS, quick=["gemma2", "olmo2"]))
def test_every_page_is_made_whole_and_every_step_is_proven(open_tiny, kind):
    for page in CONTENTS:
        if page in SLOW:
            continue
        opened = open_tiny(page, kind, versus="A small dog ran")
        assert opened.components() or opened.text or opened.ways
        assert page not in PROVEN or opened.holds == [True]
        address = opened.whole_file
        assert not address or not is_refused(fetch(address))
    for step in keys():
        opened = open_tiny(STEP_BY_STEP, kind, step=step)
        assert (opened.notices, opened.holds) == ([], [True])


@pytest.mark.parametrize(
    ("kind", "step", "section", "facts"),
    sweep(
        [
            ("qwen3", "qkv", "qkv/norms", {"norm": "RMSNorm"}),
            ("gpt_neox", "qkv", "qkv/rotary-part", {"turned": 6, "d_head": 12}),
            ("gemma2", "scale", "scale/cap", {}),
            ("mistral", "mask", "mask/window", {"reach": 5}),
            ("qwen2", "mask", "mask/layers", {"count": 3, "windows": "1 and 3"}),
            ("modernbert", "mask", "mask/layers", {"count": 3, "windows": 2}),
            ("albert", "embed", "embed/projected", {"narrow": 20, "wide": 36}),
            ("bloom", "embed", "embed/normed", {"norms": "LayerNorm and LayerNorm"}),
            ("bloom", "scores", "scores/bias-of-keys", {}),
            ("gpt_oss", "scores", "scores/sink", {}),
            ("gpt_oss", "embed", "embed/rotary", {}),
            (UNKNOWN, "embed", "embed/unknown", {"layer": 1}),
            (UNKNOWN, "qkv", "qkv/cell-unknown", {}),
            ("cohere", "qkv", "qkv/rotary", {"first": "2i", "second": "2i + 1"}),
            ("olmo2", "qkv", "qkv/norms", {"norm": "RMSNorm over all heads"}),
            (PARALLEL, "heads", "heads/added-beside", {"beside": "Mamba"}),
            ("olmo2", "heads", "heads/added-normed", {"norm": "RMSNorm"}),
        ],
        quick=[("gemma2", "scale", "scale/cap", {})],
    ),
)
def test_what_a_model_does_beside_the_plain_steps_is_said(open_tiny, kind, step, section, facts):
    told = facts_in("".join(open_tiny(STEP_BY_STEP, kind, step=step).html), section)
    assert {name: told[name] for name in facts} == facts


@pytest.mark.parametrize("kind", sweep(["gpt_neox", "olmo2"], quick=["gpt_neox"]))
def test_a_block_that_cannot_be_shown_is_no_other_model(open_tiny, kind):
    page = open_tiny(OF_LABS[whole.LAB], kind)
    [told] = [notice for notice in page.notices if f"tiny-{kind}" in notice]
    assert get_info(f"tiny-{kind}").note in told
    assert set(page.components()) <= {"question"}


def test_the_code_lab_says_why_the_five_ways_cannot_stand_for_a_layer(open_tiny):
    page = open_tiny(CODE_LAB, "qwen3")
    reason = why_not(load("tiny-qwen3").trace(TEXT).layers[0])
    assert reason
    [told] = page.notices
    assert reason in told
    assert page.tables == []
