"""Two sentences read together: typed, separated, filtered and shared."""

import re

import pytest
from playwright.sync_api import expect

SECOND = "It was tired"


def test_a_typed_second_sentence_is_read_with_the_first_and_leads_somebody_else_there(opened, new_tab):
    tab = opened("all_heads")
    tab.field.click()
    field = tab.page.get_by_role("textbox", name="Second sentence")
    field.fill(SECOND)
    field.press("Enter")
    tab.expect_query(pair=SECOND)
    expect(tab.matrix("matrix", "head").root.locator(".group")).to_have_text(["A", "B", "A", "B"])

    tab.pick("Lines from → to", "B → A").expect_query(pair=SECOND, block="BA")
    lines = tab.page.locator(".st-key-head_view")
    expect(lines.locator(".query .token .text")).to_have_text(["it", "was", "tired", "[SEP]"])
    expect(lines.locator(".key .token .text").last).to_have_text("[SEP]")
    expect(lines.locator(".query .token").first).to_have_attribute("title", "it, position 8")
    tab.page.get_by_text("Sort, hide, mask").click()
    tab.pick("Sort by", "A → B").expect_query(pair=SECOND, block="BA", sort="across", looks="1")

    there = new_tab(viewport={"width": 1400, "height": 900}).go_to(tab.page.url)
    expect(there.page.get_by_role("textbox", name="Second sentence")).to_have_value(SECOND)
    expect(there.page.locator(".st-key-head_view .query .token")).to_have_count(4)


@pytest.mark.slow
def test_pins_heads_and_threshold_are_in_the_address_and_lead_somebody_else_there(opened, new_tab):
    tab = opened("all_heads", pair=SECOND)
    lines = tab.page.locator(".st-key-head_view")
    tokens = lines.locator(".query .token")
    tokens.nth(3).click()
    tokens.nth(10).click()
    tab.expect_query(pair=SECOND, pins="query-3-10")
    heads = lines.locator("button.head")
    heads.nth(0).click()
    heads.nth(1).click()
    tab.expect_query(pair=SECOND, pins="query-3-10", on="1-2-9")
    lines.get_by_role("slider").focus()
    tab.page.keyboard.press("End")
    tab.expect_query(pair=SECOND, pins="query-3-10", on="1-2-9", least="0.5")
    # In a part of the text, a pin keeps its token.
    tab.pick("Lines from → to", "B → A")
    tab.expect_query(pair=SECOND, pins="query-3-10", on="1-2-9", least="0.5", block="BA")
    expect(lines.locator(".query .token[aria-pressed=true] .text")).to_have_text(["tired"])

    there = new_tab(viewport={"width": 1400, "height": 900}).go_to(tab.page.url)
    lines = there.page.locator(".st-key-head_view")
    expect(lines.locator(".query .token[aria-pressed=true] .text")).to_have_text(["tired"])
    expect(lines.locator("button.head[aria-pressed=true]")).to_have_text(["Head 1", "Head 2", "Head 9"])
    expect(lines.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("^0.5:"))
    lines.get_by_role("button", name="Unpin all").click()
    there.expect_query(pair=SECOND, on="1-2-9", least="0.5", block="BA")
    # Another head is shown alone.
    there.select("Head", "8 of 12").expect_query(pair=SECOND, layer="3", head="8", least="0.5", block="BA")
    expect(lines.locator("button.head[aria-pressed=true]")).to_have_text(["Head 8"])
