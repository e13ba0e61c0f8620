"""The current task, in one line on every page until a view is handed in or the task is dropped."""

from urllib.parse import parse_qs

import pytest

from attention.page.pages import FIND_IT, PAGES

TEXT = "The old baker opened the small shop before sunrise"
OTHERS = [page for page in PAGES if page is not FIND_IT]


@pytest.mark.usefixtures("few_sentences", "_nothing_goes_on")
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.address or "front")
def test_every_page_has_the_task_and_the_ways_back_to_it_and_out_of_it(open_page, page):
    shown = open_page(page.file, model="minilm-l6", text=TEXT, find="previous")
    (line,) = [block for block in shown.blocks if block.get("key") == "sought"]
    told, back, drop = line["blocks"]
    assert "Previous token" in told["html"]
    there = parse_qs(back["address"].partition("?")[2])
    assert (there["text"], there["find"]) == ([TEXT], ["previous"])
    assert back["address"].partition("?")[0].endswith(FIND_IT.address)
    assert "find" not in parse_qs(drop["address"].partition("?")[2])
    without = open_page(page.file, model="minilm-l6", text=TEXT)
    assert not [block for block in without.blocks if block.get("key") == "sought"]


def test_its_score_is_that_of_the_head_that_is_looked_at_and_what_is_found_is_handed_in(open_page):
    link = {"text": TEXT, "find": "previous", "layer": "1"}
    for head, said in (("5", "Not yet"), ("3", "Found it")):
        shown = open_page("pages/all_heads.py", head=head, **link)
        told, back, _ = next(block for block in shown.blocks if block.get("key") == "sought")["blocks"]
        judged = open_page(FIND_IT.file, head=head, text=TEXT, layer="1")
        (verdict,) = [body for body in judged.html if "Score" in body]
        score = verdict.partition("Score: ")[2][:4]
        assert f"{said}. Score: {score}" in told["html"]
        # Handed in, it is looked for no longer.
        assert ("find=previous" in back["address"]) == (said == "Not yet")


def test_what_heads_do_is_not_told_while_one_is_looked_for(open_page):
    def told(**link):
        shown = open_page("pages/all_heads.py", text=TEXT, layer="1", head="3", **link)
        return "looks one word back" in str((shown.blocks, shown.component("atlas")))

    assert told()
    assert not told(find="previous")


def test_the_ways_into_the_pages_take_the_task_along_and_another_task_takes_its_place(open_page):
    shown = open_page(FIND_IT.file, task="it")
    assert all(parse_qs(query)["find"] == ["it"] for query in shown.ways.values())
    # From a page on which one task is looked for, its own rule is shown, until another is chosen.
    again = open_page(FIND_IT.file, find="it")
    assert "changes its mind" in " ".join(again.headings())
    again.choose("task", "previous")
    assert "Previous token" in again.headings()
    assert again.view.to_query().get("find") is None


def test_the_page_has_a_picture_of_what_is_judged(open_page):
    assert open_page(FIND_IT.file, text=TEXT).component("judged")["rows"][1] == "the"
    two = {"text": "The dog chased the ball until it was lost", "versus": "The dog chased the ball until it was tired"}
    judged = open_page(FIND_IT.file, task="it", **two).component("judged")
    assert len(judged["columns"]) == 2
    assert "it" in judged["title"]
