"""The page Many sentences, run without a browser."""

import re

import pytest

from attention import corpus
from attention.corpus import MAX_LINES
from tests.sweep import sweep

PAGE = "pages/many_sentences.py"


def upload(shown, data, name="mine.txt"):
    shown.app.file_uploader(key="own_sentences").set_value((name, data, "text/plain"))
    return shown.run()


def captions(shown):
    return " ".join(caption.value for caption in shown.app.caption)


@pytest.mark.parametrize(
    ("model", "n_heads", "n_charts"), sweep([("toy", 3, 3), ("minilm-l6", 72, 5)], quick=[("toy", 3, 3)])
)
def test_all_heads_are_averaged_over_the_bundled_sentences(open_page, model, n_heads, n_charts):
    shown = open_page(PAGE, model=model)
    assert shown.exceptions == []
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


def test_the_head_of_the_link_is_the_one_that_is_shown(open_page):
    shown = open_page(PAGE, layer="1", head="3")
    assert shown.component("study_atlas")["current"] == [0, 2]
    assert re.search(r"\b1\D+\b3\D+500\b", shown.text)
    assert "previous token" in shown.text
    assert shown.component("mean_matrix")["rows"][0] == "[CLS]"
    shown.choose("head", 4)
    assert shown.component("study_atlas")["current"] == [0, 4]
    assert shown.view.pane.head == 4


def test_sentences_can_be_laid_on_each_other_at_their_ends(open_page):
    shown = open_page(PAGE).choose("alignment", "end")
    assert shown.component("mean_matrix")["rows"][-2:] == ["−2", "[SEP]"]


def test_another_model_has_its_own_numbers(open_page):
    shown = open_page(PAGE, layer="3").choose("model", "toy")
    assert shown.exceptions == []
    assert shown.component("study_atlas")["title"].startswith("Toy: 3 heads")


def test_a_file_of_ones_own_counts_instead_of_the_bundled_one(open_page):
    shown = upload(open_page(PAGE, model="toy"), b"A cat sat.\n\nTwo birds flew away.\n")
    assert shown.notices == []
    assert "2 of 2" in captions(shown)
    assert "2 sentences" in shown.component("study_atlas")["title"]


@pytest.mark.parametrize(
    ("data", "said", "n_good"),
    [
        (b"", "The file is empty", 0),
        (b"\n \n", "no sentence: all its lines are blank", 0),
        (b"GIF89a\0\x01\x02", "not a plain text file (line 1", 0),
        (b"A cat sat.\ncaf\xe9\nA dog ran.", "Not UTF-8, and left out: line 2", 2),
        (b"A cat sat.\n" + b"so " * 700, "Longer than 2,000 characters, and left out: line 2", 1),
        pytest.param(b"A cat.\n" * (MAX_LINES + 1), "only the first 5,000 count", MAX_LINES, marks=pytest.mark.slow),
        pytest.param(b"A cat sat.\n" + b"so \n" * 300_000, "larger than 1 MB", MAX_LINES, marks=pytest.mark.slow),
    ],
    ids=["empty", "blank", "binary", "not UTF-8", "one long line", "many lines", "large"],
)
def test_a_bad_file_is_told_about_and_its_good_lines_count(open_page, data, said, n_good):
    shown = upload(open_page(PAGE, model="toy"), data)
    assert shown.exceptions == []
    assert said in " ".join(shown.notices)
    if n_good:
        assert f"{n_good:,} of {n_good:,}" in captions(shown)
    else:
        assert shown.components() == []


def test_lines_that_the_model_cannot_read_or_has_to_cut_are_counted(open_page):
    shown = upload(open_page(PAGE, model="toy"), ("A cat\n\u200b\n" + "so " * 70).encode())
    # Two of the three are read, one of them cut: 2 tokens and 64.
    for fact in ("2 of 3", "66 tokens", "64 tokens"):
        assert fact in captions(shown)
    nothing = upload(open_page(PAGE, model="toy"), "\u200b".encode())
    assert nothing.exceptions == []
    assert len(nothing.notices) == 1
    assert nothing.components() == []


def test_a_cancelled_study_shows_what_it_has_and_goes_on_when_asked(open_page):
    from attention.models import load
    from attention.ui.study_cache import content_key, study_job

    lines = tuple(f"{sentence} Indeed." for sentence in corpus.sentences())
    job = study_job(load("toy"), lines, content_key(lines))
    job.advance()
    n_done = job.run.n_done
    shown = open_page(PAGE, model="toy")
    shown.app.session_state["pressed"] = {job.key: (1, True)}
    upload(shown, "\n".join(lines).encode())
    assert shown.exceptions == []
    (notice,) = shown.notices
    assert f"{n_done} of 500" in notice
    assert f"{n_done} of 500 sentences" in captions(shown)
    assert job.run.n_done == n_done
    shown.press("go_on_2")
    assert "500 of 500 sentences" in captions(shown)
    assert shown.notices == []
