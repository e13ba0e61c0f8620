import itertools
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention.core.text import clean
from attention.experiments import corpus

ASSETS = Path(__file__).parents[2] / "assets"
ANNOTATED = corpus.annotated()
MAIN = "det nsubj dobj pobj prep amod advmod poss aux auxpass nsubjpass conj cc mark nn prt ccomp xcomp num neg cop"
COUNTS = Counter(relation for sentence in ANNOTATED for relation in sentence.relations)

# What the words of a relation may be, where the language has only so many.
CLOSED = {
    "det": "a an the this that these those every each some any no all both which",
    "predet": "all",
    "preconj": "both",
    "aux": "to do does did have has had is are was were will wo would can ca could shall must might",
    "auxpass": "be been being is are was were got",
    "cop": "be am is are was were",
    "neg": "not n't never",
    "cc": "and or but",
    "mark": "that whether if because until although unless while as since before",
    "prt": "up off down out on in",
    "possessive": "'s '",
    "expl": "there",
    "punct": '. , ? ! "',
}
POSSESSIVE_PRONOUNS = {"my", "your", "his", "her", "its", "our", "their", "whose"}
NUMERAL = re.compile(r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|forty|eighty|ninety|hundred")
# What the head of a relation may itself be.
RELATIONS_OF_HEAD = {
    "pobj": {"prep"},
    "pcomp": {"prep"},
    "possessive": {"poss"},
    "quantmod": {"num"},
    "number": {"num"},
}
# What stands between a noun and what comes before it in its phrase.
BEFORE_NOUN = {"det", "predet", "poss", "possessive", "num", "quantmod", "number", "amod", "nn", "cc", "conj"}
# What else that head must have.
RELATIONS_BESIDE = {
    "iobj": ["dobj"],
    "nsubjpass": ["auxpass"],
    "auxpass": ["nsubjpass"],
    "cc": ["conj"],
    "preconj": ["cc", "conj"],
}


def content(sentence):
    return frozenset(re.findall(r"\w{4,}", sentence.lower()))


def dependents(sentence, head, relation):
    return [
        index
        for index, (its_head, its_relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
        if its_head == head and its_relation == relation
    ]


def path_to_root(sentence, index):
    path = [index]
    while (head := sentence.heads[path[-1]]) is not None:
        assert head not in path, f"a circle in {sentence.text}"
        path.append(head)
    return path


def test_the_plain_sentences_are_many_clean_and_not_alike():
    sentences = corpus.sentences()
    assert len(sentences) == 500
    for sentence in sentences:
        assert clean(sentence) == sentence
        assert re.fullmatch(r'["A-Z].*[.?!]"?', sentence), sentence
        assert 4 <= len(sentence.split()) <= 20, sentence
    for one, other in itertools.combinations(map(content, (*sentences, *(each.text for each in ANNOTATED))), 2):
        assert len(one & other) <= max(len(one | other) / 2, 1), (one, other)


def test_every_annotated_sentence_is_a_tree_whose_arcs_do_not_cross():
    for sentence in ANNOTATED:
        size = len(sentence.words)
        assert len(sentence.heads) == len(sentence.relations) == len(sentence.spans) == size
        assert sentence.heads.count(None) == 1, sentence.text
        assert all(head is None or 0 <= head < size for head in sentence.heads), sentence.text
        paths = [path_to_root(sentence, index) for index in range(size)]
        for index, head in enumerate(sentence.heads):
            if head is not None:
                # Every word between a word and its head hangs, over however many others, on that head.
                between = range(min(index, head) + 1, max(index, head))
                assert all(head in paths[each] for each in between), (sentence.text, sentence.words[index])


def test_relations_fit_their_words():
    for sentence in ANNOTATED:
        for index, word in enumerate(sentence.words):
            check_word(sentence, index, word.lower(), sentence.heads[index], sentence.relations[index])


def check_word(sentence, index, word, head, relation):
    where = (sentence.text, word, relation)
    assert (relation == "root") == (head is None), where
    assert (relation == "punct") == (word in CLOSED["punct"].split()), where
    assert word in CLOSED.get(relation, word).split(), where
    if relation in RELATIONS_OF_HEAD:
        assert sentence.relations[head] in RELATIONS_OF_HEAD[relation], where
    for needed in RELATIONS_BESIDE.get(relation, ()):
        assert dependents(sentence, head, needed), where
    if relation in {"det", "predet", "poss", "num", "amod", "nn"}:
        assert set(sentence.relations[index + 1 : head]) <= BEFORE_NOUN, where
    if relation in {"num", "number"}:
        assert NUMERAL.fullmatch(word), where
    if relation == "poss":
        assert (word in POSSESSIVE_PRONOUNS) != bool(dependents(sentence, index, "possessive")), where
    for single in ("nsubj", "nsubjpass", "dobj", "iobj", "cop", "pobj", "det"):
        assert len(dependents(sentence, index, single)) <= 1, (*where, single)


def test_the_main_relations_have_enough_cases():
    assert {relation: COUNTS[relation] for relation in MAIN.split() if COUNTS[relation] < 20} == {}
    assert min(COUNTS["iobj"], COUNTS["tmod"]) >= 10


def test_the_guidelines_count_what_the_table_holds():
    """A relation that the guidelines do not know is an error too."""
    offsets = defaultdict(Counter)
    for sentence in ANNOTATED:
        for index, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            offsets[relation][0 if head is None else head - index] += 1
    guidelines = (ASSETS / "dependencies.md").read_text("utf-8")
    told = re.findall(r"^\| (\w+) \| .+ \| (\d+) \| (?:–|(\d+)% at ([+−]\d+)) \|$", guidelines, re.MULTILINE)
    assert {relation: int(count) for relation, count, _, _ in told} == COUNTS
    for relation, count, share, offset in told:
        if relation != "root":
            ((_, most),) = offsets[relation].most_common(1)
            assert offsets[relation][int(offset.replace("−", "-"))] == most
            assert share == f"{100 * most / int(count):.0f}"
    n_words = sum(len(sentence.words) for sentence in ANNOTATED)
    assert f"{len(ANNOTATED)} English sentences ({n_words:,} words" in guidelines


def test_words_are_found_in_the_text_as_one_types_it():
    for sentence in ANNOTATED:
        assert tuple(sentence.text[start:end] for start, end in sentence.spans) == sentence.words
        assert clean(sentence.text) == sentence.text
        assert not re.search(r" [.,?!']|'s\w|\w\"\w", sentence.text)
    texts = {sentence.text for sentence in ANNOTATED}
    assert {
        "You can't park your lorry here.",
        '"Where are you going?" asked Leo.',
        'She shouted, "Come here!"',
        "The boys' shoes were wet and muddy.",
        "Dr Patel, our dentist, examined my broken tooth.",
    } <= texts


@pytest.mark.parametrize(
    ("data", "lines", "problems"),
    [
        (b"One.\nTwo.", ["One.", "Two."], []),
        (b"\xef\xbb\xbfOne.\r\n\r\n  Two\twords. \rThree.\n", ["One.", "Two words.", "Three."], []),
        (b"", [], ["The file has no sentence."]),
        (b"\xef\xbb\xbf \n\n\t\n", [], ["The file has no sentence."]),
        (b"One.\ncaf\xe9\nTwo.\n", ["One.", "Two."], ["Left out, not UTF-8: line 2."]),
        (b"\xff\n\xff\nOne.\n\xff\n", ["One."], ["Left out, not UTF-8: lines 1, 2 and 4."]),
        (b"\xff\n" * 7 + b"One.", ["One."], ["Left out, not UTF-8: lines 1, 2, 3, 4, 5 and 2 more."]),
        (b"x" * 2000 + b"\n" + b"x" * 2001, ["x" * 2000], ["Left out, longer than 2,000 characters: line 2."]),
        ("One.\nTwo.".encode("utf-16"), [], ["zero byte"]),
        (b"One.\nTwo\0.\n", [], ["zero byte in line 2"]),
        (b"a\n" * 5001, ["a"] * 5000, ["more than 5,000 lines. Only the first 5,000 are read."]),
        (b"x" * 2**20 + b"y", [], ["Line 1 alone exceeds 1 MB"]),
        (
            (b"x" * 1023 + b"\n") * 1024 + b"y",
            ["x" * 1023] * 1024,
            ["exceeds 1 MB. It was read up to line 1,024"],
        ),
        ((b"x" * 1023 + b"\n") * 1023 + b"y" * 1025, ["x" * 1023] * 1023, ["read up to line 1,023."]),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_reading_a_file(data, lines, problems):
    read = corpus.read_sentences(data)
    assert list(read.lines) == lines
    assert len(read.problems) == len(problems)
    assert all(part in problem for part, problem in zip(problems, read.problems, strict=True))


file_lines = st.lists(st.binary(max_size=8) | st.text(max_size=8).map(str.encode))


@given(st.binary() | file_lines.map(b"\n".join))
@example(b"\xef\xbb\xbf")
@example(b"\n")
def test_any_bytes_give_clean_lines_or_a_reason(data):
    read = corpus.read_sentences(data)
    assert read.lines or read.problems
    assert all(line and line == clean(line) for line in read.lines)
    assert all(problem.endswith(".") for problem in read.problems)
