"""A decoder in a browser: its steps have the model's own numbers, and clicking a token appends it."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import NARROW, WIDE

MODEL = "smollm2-135m"
FRANCE = "The capital of France is"
MOST_PROBABLE = "The most probable token is"


@pytest.fixture(scope="module")
def trace(models):
    return models[MODEL].trace(FRANCE)


def test_queries_and_keys_are_shown_after_and_before_they_are_turned(tab, trace):
    tab.go(model=MODEL, text=FRANCE, step="qkv", layer="3", head="5")
    steps, (queries, keys) = trace.layers[2].head(4), trace.layers[2].projected(4)
    wanted = {
        "queries": steps.queries,
        "keys": steps.keys,
        "values": steps.values,
        "projected_queries": queries,
        "projected_keys": keys,
    }
    for name, values in wanted.items():
        tab.matrix(name).expect_to_show(values)
    # The heads that share these keys and values.
    expect(tab.words).to_contain_text("heads 4 to 6")


def test_the_heads_stand_in_three_groups_and_can_be_chosen(tab):
    tab.go(model=MODEL, text=FRANCE, step="softmax")
    groups = tab.page.locator(".st-key-map .group")
    expect(groups).to_have_count(3)
    for group in range(3):
        names = [f"Head {3 * group + head}, key/value head {group + 1}" for head in (1, 2, 3)]
        for head, name in enumerate(names):
            expect(groups.nth(group).get_by_role("button").nth(head)).to_have_accessible_name(name)
    tab.heads().nth(3).click()
    tab.expect_query(model=MODEL, text=FRANCE, step="softmax", head="4")


def test_a_pressed_token_joins_the_sentence(tab, models):
    tab.go(model=MODEL, text=FRANCE, step="heads")
    found = models[MODEL].next_token(models[MODEL].trace(f"{FRANCE} Paris"))
    best = found.labels[int(found.logits[-1].argmax())]
    for size in (WIDE, NARROW):
        tab.page.set_viewport_size(size)
        expect(tab.page.get_by_text("SmolLM2: what comes next")).to_be_visible()
        tab.page.get_by_role("button", name=re.compile("^␣Paris 0.77")).click()
        expect(tab.field).to_have_value(f"{FRANCE} Paris")
        tab.expect_query(model=MODEL, text=f"{FRANCE} Paris", step="heads")
        expect(tab.page.get_by_text(re.compile(f"{MOST_PROBABLE} “{re.escape(best)}”"))).to_be_visible()
        tab.page.go_back()
        tab.expect_query(model=MODEL, text=FRANCE, step="heads")
        expect(tab.field).to_have_value(FRANCE)
