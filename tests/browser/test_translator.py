"""The translator in a browser: three uses of attention with the model's own numbers, and links to each."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tab import drawn_weights

MODEL = "translator-fr-en"
FRENCH = "le chat noir dort"
# No example, and longer than what a sentence of a lesson has room for.
OTHER = "ma petite soeur n'aime pas les vieux chats"


@pytest.fixture(scope="module")
def trace(models):
    return models[MODEL].trace(FRENCH)


@pytest.fixture(scope="module")
def other(models):
    return models[MODEL].trace(OTHER)


def names(tokens):
    return [token.text for token in tokens]


def test_parts_and_sentences_are_chosen_and_back_leads_to_those_before(shared_tab, trace, other):
    tab = shared_tab.go(model=MODEL, text=FRENCH, step="softmax")
    weights = tab.matrix("weights")
    seen = [({"model": MODEL, "text": FRENCH, "step": "softmax"}, trace, "encoder")]
    for part in ("decoder", "cross"):
        tab.pick("Attention", part)
        seen.append(({"model": MODEL, "text": FRENCH, "step": "softmax", "part": part}, trace, part))
        expect_part(tab, *seen[-1])
    tab.type_sentence(OTHER)
    seen.append(({"model": MODEL, "text": OTHER, "step": "softmax", "part": "cross"}, other, "cross"))
    expect_part(tab, *seen[-1])
    expect(tab.page.get_by_text(f"Translator wrote: “{other.decoder.text}”", exact=True)).to_be_visible()
    weights.click(3, 2)
    tab.expect_query(**seen[-1][0], cell="weights-3-2", word="3")
    for place in reversed(seen):
        tab.page.go_back()
        expect_part(tab, *place)


def expect_part(tab, query, trace, part):
    """The address and the numbers are those of a part, in the head that is shown where nobody has chosen one."""
    tab.expect_query(**query)
    tab.expect_chosen("Attention", part)
    wanted = trace.part(part)
    weights = tab.matrix("weights")
    weights.expect_to_show(drawn_weights(wanted.layers[1].head(2)), masked="0")
    assert weights.labels() == names(wanted.tokens)


def test_all_words_that_can_be_read_are_offered_as_one_types(new_tab):
    tab = new_tab().go(model=MODEL, text="le chat dort", part="cross", step="softmax")
    tab.field.click()
    words = tab.page.locator(".line .words")
    expect(words.get_by_role("status")).to_contain_text(re.compile(r"\w"))
    tab.field.fill("")
    tab.field.press_sequentially("le gara")
    expect(words.get_by_role("button")).to_have_count(0)
    tab.field.press("Backspace")
    # Accents need not be typed.
    expect(words.get_by_role("button", name="garçon", exact=True)).to_be_visible()
    words.get_by_role("button", name="garçon", exact=True).click()
    expect(tab.field).to_have_value("le garçon ")
    tab.field.press_sequentially("dort")
    tab.field.press("Enter")
    tab.expect_query(model=MODEL, text="le garçon dort", part="cross", step="softmax")
