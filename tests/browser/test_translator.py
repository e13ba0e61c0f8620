"""The translator in a browser: three uses of attention with the model's own numbers, and links to each."""

import re

from playwright.sync_api import expect

MODEL = "translator-fr-en"


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
