"""The page *Many sentences*."""

from base64 import b64encode

import pytest

from attention.answer.running import measurements, own_files
from attention.experiments import corpus
from attention.models import load
from attention.page.settings import HOLD
from tests.sweep import sweep

PAGE = "pages/many_sentences.py"


def upload(shown, data):
    return shown.send("own_file", "take", b64encode(data).decode())


def captions(shown):
    return " ".join(shown.captions)


@pytest.mark.parametrize(
    ("model", "n_heads", "n_charts"), sweep([("toy", 3, 3), ("minilm-l6", 72, 5)], quick=[("toy", 3, 3)])
)
def test_all_heads_are_averaged_over_the_bundled_sentences(open_page, model, n_heads, n_charts):
    shown = open_page(PAGE, model=model)
    assert shown.notices == []
    assert "500 of 500" in captions(shown)
    groups = shown.component("study_atlas")["groups"]
    assert sum(len(group["heads"]) for group in groups) == n_heads
    charts = [shown.component(key) for key in shown.components() if key.startswith("layers_")]
    assert len(charts) == n_charts
    for chart in charts:
        _, points = chart["data"]
        assert (points["name"], len(points["hovertext"])) == ("a head", n_heads)
    assert len(shown.tables[0]) == n_heads
    (proof,) = shown.proofs
    assert proof.startswith("✓ rows sum to 1")


def test_a_file_of_ones_own_counts_instead_of_the_bundled_one(open_page):
    shown = upload(open_page(PAGE, model="toy"), b"A cat sat.\n\nTwo birds flew away.\n")
    assert shown.notices == []
    assert "2 of 2" in captions(shown)
    assert "2 sentences" in shown.component("study_atlas")["title"]


@pytest.mark.parametrize(
    ("data", "said", "n_good"),
    [
        (b"", "no sentence", 0),
        (b"A cat sat.\ncaf\xe9\nA dog ran.", "not UTF-8: line 2", 2),
    ],
)
def test_a_bad_file_is_told_about_and_its_good_lines_count(open_page, data, said, n_good):
    shown = upload(open_page(PAGE, model="toy"), data)
    assert said in " ".join(shown.notices)
    if n_good:
        assert f"{n_good} of {n_good}" in captions(shown)
    else:
        assert shown.components() == ["own_file"]


def test_lines_that_the_model_cannot_read_or_has_to_cut_are_counted(open_page):
    shown = upload(open_page(PAGE, model="toy"), ("A cat\n\u200b\n" + "so " * 70).encode())
    # Two of the three are read, one of them cut: 2 tokens and 64.
    for fact in ("2 of 3", "66 tokens", "64 tokens"):
        assert fact in captions(shown)
    nothing = upload(open_page(PAGE, model="toy"), "\u200b".encode())
    assert len(nothing.notices) == 1
    assert nothing.components() == ["own_file"]


def test_a_cancelled_study_shows_what_it_has_and_goes_on_when_asked(open_page):
    lines = tuple(f"{sentence} Indeed." for sentence in corpus.sentences())
    shown = upload(open_page(PAGE, model="toy", hold="1"), "\n".join(lines).encode())
    # Another file begins by itself.
    assert not shown.view[HOLD]
    assert "500 of 500 sentences" in captions(shown)
    measurement = measurements().study(load("toy"), lines[1:])
    measurement.advance()
    n_done = measurement.run.n_done
    key = own_files().keep("\n".join(lines[1:]).encode())
    shown = open_page(PAGE, model="toy", hold="1", file=key)
    (notice,) = shown.notices
    assert f"{n_done} of 499" in notice
    assert f"{n_done} of 499 sentences" in captions(shown)
    assert measurement.run.n_done == n_done
    shown.send("measuring", "press", "start")
    assert "499 of 499 sentences" in captions(shown)
    assert (shown.notices, shown.view[HOLD]) == ([], False)


def test_while_it_is_measured_the_page_says_how_far_that_is_and_can_cancel_it(open_page, monkeypatch):
    # As if there were no time to carry it on.
    monkeypatch.setattr("attention.answer.page.LOOK_SECONDS", 0.0)
    shown = upload(open_page(PAGE, model="toy"), b"A cat sat.\nTwo birds flew.")
    bar = shown.component("measuring")
    assert (bar["share"], bar["stops"]) == (0.0, "Cancel")
    assert "study_atlas" not in shown.components()
    shown.send("measuring", "press", "stop")
    assert shown.view[HOLD]
    assert "0 of 2" in shown.notices[0]


def test_a_file_is_found_by_its_link_and_left_again(open_page, few_sentences):
    mine = upload(open_page(PAGE, model="toy"), b"A cat sat.\nTwo birds flew away.")
    there = open_page(PAGE, **mine.view.to_query())
    assert "2 of 2 sentences, from your file" in captions(there)
    assert "8 of 8" in captions(there.send("own_file", "take", None))
    gone = open_page(PAGE, model="toy", file="0" * 32)
    assert "no longer on this server" in gone.notices[0]
    assert "8 of 8" in captions(gone)
