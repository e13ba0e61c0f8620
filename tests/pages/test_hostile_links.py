"""No link raises an error: each parameter alone where links are read, and several together on every page."""

import random

import pytest

from attention.page.content.registry import CONTENTS
from attention.page.pages import CODE_LAB, COMPARE, FRONT, MANY_SENTENCES, PAGES, SYNTAX_CHECK
from attention.page.parameters import Context
from attention.page.view import View
from tests.hostile import INFOS, PARAMETERS, SECRET, links, one
from tests.pages.test_memory import fetch, is_refused
from tests.sweep import sweep

# The two pages about many sentences read them before they show anything: fewer links do.
SLOW = {MANY_SENTENCES, SYNTAX_CHECK}


def _named(value):
    return getattr(value, "title", None)


@pytest.mark.parametrize("name", PARAMETERS)
def test_whatever_a_link_says_of_a_parameter_is_read_as_a_value_that_there_is(name):
    """A link to what was read of it leads to the same view, and there is nothing to be said of that link."""
    chance = random.Random(name)
    page = next(page for page in PAGES if PARAMETERS[name] in page.parameters)
    for model in INFOS:
        for _ in range(20):
            link = {"model": model} | {name: one(name, chance)}
            view = View.from_query(link, page, INFOS)[0].shown()
            context = Context(INFOS, view.model)
            assert [each.name for each in page.parameters if not each.fits(view[each], context)] == [], link
            again, said = View.from_query(view.to_query(), page, INFOS)
            assert (again.shown(), said) == (view, []), link


@pytest.mark.parametrize("page", sweep(PAGES, quick=[FRONT, COMPARE, CODE_LAB]), ids=_named)
def test_no_link_raises_and_none_is_logged(open_page, few_sentences, page, caplog, capfd):
    """All that a page shows is made of each link, and the page as a file, in which everything is open."""
    own, names = ([each.name for each in some] for some in (page.own, page.parameters))
    chance = random.Random(page.address)
    for query in links(chance, own) if page in SLOW else links(chance, names, thorough=own):
        try:
            shown = open_page(page.file, **query)
            written = fetch(shown.whole_file) if shown.whole_file else b""
        except Exception as error:
            raise AssertionError(query) from error
        assert shown.view.page is page
        is_gone = query.get("model", "") not in ("", *INFOS)
        reads = CONTENTS[page].source == "typed"
        is_empty = reads and INFOS[shown.view.model].reading.is_empty(shown.view.text)
        assert not shown.whole_file or is_refused(written) == (is_gone or is_empty), query
    assert SECRET not in caplog.text + "".join(capfd.readouterr())
