"""Worksheets by address: which pages have one, its contents, and who may request it."""

import html
import re
from functools import partial
from urllib.parse import parse_qsl

import pytest

from attention.answer import asked, generated_files
from attention.core import reading
from attention.lesson.steps import STEPS, step_of
from attention.page import pages
from attention.page.content.compare import EXAMPLES
from attention.page.content.registry import CONTENTS
from tests.pages.test_memory import is_refused

TEXT = "The cat sat on the mat"
WITH, WITHOUT = "worksheet.html", "worksheet-without-solutions.html"
HAVE_ONE = {
    pages.ALL_HEADS: "softmax",
    pages.NEURON_VIEW: "scores",
    pages.COMPARE: "softmax",
    pages.CODE_LAB: "sum",
    pages.FIND_IT: "softmax",
    **{page: lab.sheet for lab, page in pages.OF_LABS.items()},
}


def ask(page, name=WITH, headers=(), **link):
    # Without a second sentence, Compare would open a pair of examples.
    link = {"model": "toy", "text": TEXT, **({"versus": "It slept"} if page is pages.COMPARE else {}), **link}
    return asked.answer(generated_files.give, "GET", f"{page.name}/now/worksheet/{name}", link, dict(headers))


def title(answer):
    return re.search("<title>(.*)</title>", answer.body.decode())[1]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_the_worksheet_of_a_step_is_about_that_step(step):
    answer = ask(pages.STEP_BY_STEP, step=step.key)
    assert title(answer) == f"{TEXT} · Worksheet: {step.title}"


@pytest.mark.parametrize(("page", "step"), HAVE_ONE.items(), ids=lambda each: getattr(each, "address", each))
def test_other_pages_have_the_worksheet_of_what_they_are_about(page, step):
    answer = ask(page)
    assert title(answer) == f"{TEXT} · Worksheet: {step_of(step).title}"
    told = "Settings of the lab are not included." in answer.body.decode()
    assert told == (page in pages.OF_LABS.values())


@pytest.mark.parametrize("page", [page for page in CONTENTS if page not in HAVE_ONE and page is not pages.STEP_BY_STEP])
def test_a_page_without_a_worksheet_says_so(page):
    assert is_refused(ask(page).body)


def test_every_page_that_shows_the_way_to_a_worksheet_has_one_and_no_other_does():
    ways = {page.address: way for page in pages.PAGES if (way := generated_files.worksheet_of(page))}
    assert {page.address for page in (*HAVE_ONE, pages.STEP_BY_STEP)} == set(ways)
    for way in ways.values():
        path = way.removeprefix("./_attention/file/")
        answer = asked.answer(generated_files.give, "GET", path, {"model": "toy", "text": TEXT, "versus": "text"}, {})
        assert answer.status_code == 200
        assert title(answer).startswith(f"{TEXT} · Worksheet: ")


@pytest.mark.parametrize("path", ["/now/worksheet/worksheet.html", "nowhere/now/worksheet/worksheet.html", "no"])
def test_what_is_not_there_says_so_in_a_sentence(path):
    answer = asked.answer(generated_files.give, "GET", path, {}, {})
    assert answer.status_code == 404
    assert 0 < len(answer.body) < 100


def test_the_worksheet_of_a_comparison_is_of_its_first_sentence_in_the_head_that_it_shows():
    body = asked.answer(generated_files.give, "GET", f"compare/now/worksheet/{WITH}", {}, {}).body.decode()
    assert f"<title>{html.escape(EXAMPLES[0][0])} · " in body
    assert "layer 4, head 2" in body
    assert (">tired<" in body, ">wide<" in body) == (True, False)


def test_the_two_files_lead_to_one_another():
    link = {"step": "sum", "text": "a < b & c", "word": "1"}
    whole, alone = (ask(pages.STEP_BY_STEP, name, **link).body.decode() for name in (WITH, WITHOUT))
    for body, other in ((whole, WITHOUT), (alone, WITH)):
        way = html.unescape(re.search('<p class="screen">.*?href="(.*?)"', body)[1])
        assert way.partition("?")[0] == f"./{other}"
        assert dict(parse_qsl(way.partition("?")[2])) == {"model": "toy", **link}
    assert ("<h2>Solutions</h2>" in whole, "<h2>Solutions</h2>" in alone) == (True, False)


def test_its_code_leads_to_the_view_of_its_tasks():
    give = partial(generated_files.give, root="http://school.example/")

    def sheet(text):
        link = {"model": "toy", "text": text, "word": "2"}
        return asked.answer(give, "GET", f"step_by_step/now/worksheet/{WITH}", link, {}).body.decode()

    found = sheet(TEXT)
    way = html.unescape(re.search('<a class="code" href="(.*?)"', found)[1])
    assert way.partition("?")[0] == "http://school.example/step_by_step"
    # Nearly all the weight of "sat" goes to one token: the sheet is about another, which it says.
    word = int(dict(parse_qsl(way.partition("?")[2]))["word"])
    assert word != 2
    assert f"The row of “{TEXT.split()[word]}”" in found
    assert re.search("better exercise than “sat”", found)
    # Typed from paper, the address beside the code has the same lines.
    code = "def f(x):\n    return x"
    printed = html.unescape(re.search('class="code".*?<span>(.*?)</span>', sheet(code), re.DOTALL)[1])
    assert dict(parse_qsl(printed.partition("?")[2]))["text"] == code
    # Nobody could scan the address of a long text.
    assert 'class="code"' not in sheet(f"{TEXT} " * 30)


def test_it_is_looked_at_and_nothing_in_it_can_run():
    answer = ask(pages.STEP_BY_STEP)
    assert answer.headers["Content-Disposition"] == f'inline; filename="{WITH}"'
    allowed = dict(each.split(maxsplit=1) for each in answer.headers["Content-Security-Policy"].split("; "))
    assert allowed["default-src"] == "'none'"
    assert {"script-src", "connect-src"}.isdisjoint(allowed)
    assert "<script" not in answer.body.decode()


def test_whoever_keeps_its_address_may_come_back_and_another_page_may_not_ask():
    def status(site, mode):
        return ask(pages.STEP_BY_STEP, headers={"sec-fetch-site": site, "sec-fetch-mode": mode}).status_code

    assert status("same-origin", "navigate") == status("none", "navigate") == 200
    assert status("cross-site", "navigate") == status("same-site", "navigate") == status("none", "no-cors") == 403


def test_what_cannot_be_made_says_why():
    gone, empty = (ask(pages.STEP_BY_STEP, **link).body.decode() for link in ({"model": "gone"}, {"text": " "}))
    assert is_refused(gone)
    assert "gone" in gone
    assert is_refused(empty)
    assert reading.TEXT.invitation in empty
    assert ask(pages.STEP_BY_STEP, "other.html").status_code == 410


def test_the_tasks_of_another_model_are_about_the_same_word_in_the_toy():
    body = ask(pages.STEP_BY_STEP, model="minilm-l6", text="A bird sang <loudly>", word="3").body.decode()
    assert re.search(r"MiniLM\D+32\b", body)
    assert re.search("1, head 3 of Toy", body)
    assert re.search("<caption>[^/]*sang[^/]*</bdi></caption>", body)


def test_the_mask_counts_in_the_tasks_too():
    body = ask(pages.STEP_BY_STEP, model="toy", mask="causal", head="3", word="3").body.decode()
    row = re.search("The row of “on”.*?</table>", body)[0]
    assert row.count("−∞") == 4


def test_where_the_toy_cannot_read_the_text_its_own_first_one_is_taken():
    body = ask(pages.STEP_BY_STEP, model="translator-fr-en", text="le chat noir dort", part="cross").body.decode()
    assert f"“<bdi>{reading.TEXT.first}</bdi>”" in body


def test_where_the_text_is_cut_the_sheet_says_so():
    body = ask(pages.STEP_BY_STEP, text="cat " * 80).body.decode()
    assert re.search(r"Toy\D+64 tokens\D+80\b", body)
