"""The syntax check in a browser: choosing a relation, and going to its head on other pages."""

import pytest
from playwright.sync_api import expect

from attention.experiments import corpus
from attention.experiments.study import Run
from attention.experiments.syntax import SyntaxCheck, word_weights
from attention.lesson.syntax_check import examples
from tests.browser.tab import TWO_FRAMES

PAGE = "syntax_check"


@pytest.fixture(scope="module")
def findings(models):
    model, sentences = models["minilm-l6"], corpus.annotated()
    run = Run(model, [sentence.text for sentence in sentences], SyntaxCheck(model.info, sentences))
    while not run.is_finished:
        run.step()
    return {finding.relation: finding for finding in run.collector.findings()}


def choose_relation(tab, relation):
    field = tab.page.get_by_role("combobox", name="Relation")
    field.scroll_into_view_if_needed()
    # A page that scrolls closes a list that has just opened.
    tab.page.evaluate(TWO_FRAMES)
    tab.select("Relation", relation)
    expect(field).to_have_value(relation)


def click_cell(tab, row):
    """Click into a row of the table."""
    tab.page.locator(".table tbody tr").nth(row).locator("td").nth(1).click()


def test_a_relation_shows_its_best_head_on_an_example_and_the_way_to_it(tab, models, findings):
    tab.go(PAGE)
    choose_relation(tab, "det")
    finding = findings["det"]
    told = tab.words.filter(has_text="det (determiner")
    expect(told).to_contain_text(f"Layer {finding.layer + 1}, head {finding.head + 1}")
    expect(told).to_contain_text(f"{100 * finding.accuracy:.1f}")
    tab.settled()
    # The example stays where the new relation is in it, too.
    shown = tab.page.get_by_role("combobox", name="Example").input_value()
    (sentence,) = (each for each in examples(corpus.annotated(), "det") if each.text == shown)
    trace = models["minilm-l6"].trace(sentence.text)
    weights = word_weights(trace.layers[finding.layer].head(finding.head).weights, trace.tokens, sentence)
    picture = tab.matrix("weights")
    picture.root = tab.page.locator(".st-key-syntax_matrix").first
    picture.expect_to_show(weights)

    tab.expect_query(relation="det")
    tab.page.get_by_role("link", name="All heads on the example").click()
    expect(tab.page.get_by_role("textbox", name="Sentence", exact=True)).to_have_value(sentence.text)
    tab.settled()
    assert (tab.query()["layer"], tab.query()["head"]) == (str(finding.layer + 1), str(finding.head + 1))
    expect(tab.heading.first).to_have_text(f"Layer {finding.layer + 1}, head {finding.head + 1}")


def test_a_row_of_the_table_chooses_its_relation(tab):
    tab.go(PAGE)
    relation = tab.page.get_by_role("combobox", name="Relation")
    expect(relation).to_have_value("dobj")
    click_cell(tab, 1)
    expect(relation).to_have_value("nsubj")
    expect(tab.words.filter(has_text="nsubj (subject")).to_be_visible()
    tab.settled()
    click_cell(tab, 2)
    expect(relation).to_have_value("det")
