"""Navigation in a browser: choices survive every link, Back and Forward."""

import re
from itertools import combinations, pairwise

from playwright.sync_api import expect

CHOSEN = {"text": "Two small birds sing loudly", "model": "toy", "word": "3"}
# The pages as the menu names them, and as the tab does.
PAGES = {
    "What this is": "See attention",
    "Step by step": "Step by step",
    "All heads": "All heads",
    "Neuron view": "Neuron view",
    "Compare": "Compare",
    "Many sentences": "Many sentences",
    "Syntax check": "Syntax check",
    "Code lab": "Code lab",
    "Models": "Models",
}
WITHOUT_A_FIELD = ("Many sentences", "Syntax check", "Models")
WITH_A_WORD = ("Step by step", "All heads", "Neuron view")


def menu(tab, page):
    tab.to_page(page)


def expect_page(tab, page, chosen=CHOSEN):
    """Wait for a page that has all that was chosen in its address and, where there is a place for it, in sight."""
    expect(tab.page).to_have_title(re.compile(rf"^{PAGES[page]} · "))
    tab.expect_query(**chosen)
    # A step and a sentence say their own names.
    if page not in ("Step by step", "What this is"):
        expect(tab.page.get_by_role("heading", level=1)).to_have_text(re.compile(f"^{PAGES[page]}"))
    if page not in WITHOUT_A_FIELD:
        expect(tab.field).to_have_value(chosen["text"])
    tab.expect_chosen("Model", {"toy": "Toy", "translator-fr-en": "Translator"}[chosen["model"]])
    if page in WITH_A_WORD:
        position = int(chosen["word"])
        word = tab.control("Word")
        expect(word).to_have_value(f"{position} {chosen['text'].lower().split()[position]}")


# One page of each kind: with all that is chosen, without a choice of the model, and without a field.
KINDS = ["Step by step", "What this is", "Many sentences"]


def test_every_page_and_every_way_from_kind_to_kind_keeps_sentence_model_and_word(tab):
    sent_to_streamlit = []

    def note(message):
        sent_to_streamlit.append(message)

    tab.page.on("websocket", lambda socket: socket.on("framesent", note))
    tab.go()
    n_at_first = len(sent_to_streamlit)
    tab.type_sentence(CHOSEN["text"]).expect_query(text=CHOSEN["text"])
    tab.pick("Model", "Toy").expect_query(text=CHOSEN["text"], model="toy", at="A-4")
    tab.select("Word", "3 sing")
    expect_page(tab, "Step by step")
    at = "Step by step"
    # Every page is come to and left, by a link, by Back and by Forward.
    for one, other in (*combinations(KINDS, 2), *pairwise(PAGES)):
        if at != one:
            menu(tab, one)
            expect_page(tab, one)
        menu(tab, other)
        expect_page(tab, other)
        tab.page.go_back()
        expect_page(tab, one)
        tab.page.go_forward()
        expect_page(tab, other)
        at = other
    # Neither a link nor Back runs Streamlit's script again, which would build the page anew.
    assert len(sent_to_streamlit) == n_at_first == 1
