"""The first screen: every page has a picture, and links to it have a thumbnail."""

import pytest
from playwright.sync_api import expect

from attention.page.pages import EXPLORE, LABS_PAGE, OF_LABS, PAGES

PROJECTOR = {"width": 1280, "height": 720}
# A picture is any figure but what is pressed to lead on.
CONTROLS = (".line", ".stepper", ".question", ".work", ".upload", ".buttons")
# How much of each picture is in sight, in pixels; a card is a picture that has come.
IN_SIGHT = """controls => [...document.querySelectorAll(".page .figure, .page .card img")].map((each) => {
  const box = each.getBoundingClientRect();
  const root = each.shadowRoot?.querySelector(".root");
  if (root ? root.matches(controls) : !each.naturalWidth) return 0;
  return Math.max(0, Math.min(box.bottom, innerHeight) - Math.max(box.top, 0));
})"""


# Of the labs, test_labs.py holds more.
OTHERS = [page for page in PAGES if page not in OF_LABS.values() or page.address in ("whole", "cost")]


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.name)
def test_every_page_opens_with_a_picture_in_the_first_screen(shared_tab, page):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(page.address).settled()
    shared_tab.page.wait_for_function(f"controls => Math.max(...({IN_SIGHT})(controls)) >= 80", arg=", ".join(CONTROLS))


@pytest.mark.parametrize("overview", [EXPLORE, LABS_PAGE], ids=lambda page: page.name)
def test_a_card_shows_each_page_of_a_group_and_leads_there_with_what_is_typed(shared_tab, overview):
    shared_tab.page.set_viewport_size(PROJECTOR)
    shared_tab.turn_to(overview.address, model="toy", text="Two birds sing")
    others = [page for page in PAGES if page.group == overview.group and page is not overview]
    cards = shared_tab.page.locator(".st-key-cards .card")
    expect(cards).to_have_count(len(others))
    for page in others:
        card = shared_tab.page.get_by_role("link", name=page.title, exact=True)
        expect(card).to_contain_text(page.purpose)
        card.scroll_into_view_if_needed()
        card.locator("img").evaluate("async image => { await image.decode(); }")
    shared_tab.page.get_by_role("link", name=others[0].title, exact=True).click()
    shared_tab.expect_query(model="toy", text="Two birds sing")
