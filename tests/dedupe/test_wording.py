"""Statements word by word."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.wording import Word, extends, root, same_statement, same_word, settled, wording


def test_a_text_is_read_for_claim_numbers_and_negation() -> None:
    read = wording("Anna's dog can't eat 2 bones — not today!")
    assert [word.text for word in read.words] == [
        *("anna", "dog", "can", "not", "eat", "2", "bones", "not", "today"),
    ]
    assert [word.text for word in read.claim] == ["anna", "dog", "can", "eat", "2", "bones"]
    assert (read.numbers, read.negated) == (("2",), False)
    assert [word.name for word in read.words[:2]] == [True, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("won't", ["will", "not"]),
        ("10:30, 1.5% and 3-4", ["10:30", "1.5%", "and", "3-4"]),
        ("Ёлка", ["елка"]),
        ("mail a.b@c.org", ["mail", "a.b@c.org"]),
        ("5 €", ["5", "€"]),
        ("...", []),
    ],
)
def test_words_are_what_they_should_be(text: str, words: list[str]) -> None:
    assert [word.text for word in wording(text).words] == words


def test_forms_of_a_word_are_one_and_names_are_not() -> None:
    assert same_word(Word("wohnt"), Word("wohne"))
    assert same_word(Word("tea"), Word("tea", name=True))
    assert not same_word(Word("anna", name=True), Word("anne", name=True))
    assert not same_word(Word("12"), Word("123"))
    assert root(Word("of")) == "of"


_words = st.builds(
    Word,
    st.text("aeinst", min_size=1, max_size=4).flatmap(
        lambda stem: st.sampled_from(["", "s", "es", "ing", "ings", "n", "en", "ed"]).map(stem.__add__)
    ),
    st.booleans(),
)


@given(_words, _words)
def test_words_that_are_one_are_one_without_endings(a: Word, b: Word) -> None:
    assert same_word(a, b) == (a.text == b.text or root(a) == root(b))
    if same_word(a, b):
        assert settled(a.text) == settled(b.text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Anna likes tea", "anna likes TEA!!"),
        ("Anna likes the tea", "Anna really likes tea"),
        ("the data base is full", "the database is full"),
        ("Она очень любит чай", "Она любит чай."),
        ("Das ist ja wirklich gut", "ist gut"),
        ("the", "The."),
        ("I'm from Oslo", "I am from Oslo"),
        ("They’ve left, and we'll follow", "They have left, and we will follow"),
        ("It's Anna's cat", "It is Anna's cat"),
    ],
)
def test_the_same_statement(a: str, b: str) -> None:
    assert same_statement(a, b)
    assert same_statement(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The rent is 900", "The rent is 950"),
        ("Flight 1 23", "Flight 12 3"),
        ("Anna told Bob", "Bob told Anna"),
        ("It is on", "It is not on"),
        ("Anna is in Rome", "Anna was in Rome"),
        ("Anna works at Acme", "Anna worked at Acme"),
        ("Anna flew to Rome", "Anna flew from Rome"),
        ("I live here", "We live here"),
        ("tea", ""),
        ("the", "a"),
    ],
)
def test_another_statement(a: str, b: str) -> None:
    assert not same_statement(a, b)
    assert not same_statement(b, a)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("राम घर पर है", "रोम घर पर है"),
        ("มานีไปตลาดกับแม่", "มานี้ไปตลาดกับแม่"),
        ("Das ist schön", "Das ist schon"),
    ],
)
def test_marks_make_another_word(one: str, other: str) -> None:
    """Vowel signs and accents that stand by themselves are no letters to a regular expression."""
    for form in ("NFC", "NFD"):
        a, b = (unicodedata.normalize(form, text) for text in (one, other))
        assert not same_statement(a, b)
        assert same_statement(a, unicodedata.normalize("NFC", one))


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_compared(a: str, b: str) -> None:
    assert same_statement(a, a)
    assert same_statement(a, b) == same_statement(b, a)
    assert not (extends(a, b) and extends(b, a))


@pytest.mark.parametrize(
    ("longer", "shorter", "expected"),
    [
        ("Anna likes tea with milk", "Anna likes tea", True),
        ("Anna likes tea with milk and sugar now", "Anna likes tea", False),
        ("Anna likes tea only", "Anna likes tea", False),
        ("Anna likes tea no more", "Anna likes tea", False),
        ("Anna drinks tea 5", "Anna drinks tea", False),
        ("Anna likes tea", "Anna likes tea", False),
        ("Anna's sister likes tea", "Anna likes tea", False),
        ("Anna", "", False),
    ],
)
def test_what_goes_on_from_another(longer: str, shorter: str, expected: bool) -> None:
    assert extends(longer, shorter) is expected
