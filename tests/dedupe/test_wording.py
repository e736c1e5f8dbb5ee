"""Statements word by word."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.wording import extends, same_statement, statement_key, wording


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


STATEMENTS = st.builds(
    lambda *parts: " ".join(part for part in parts if part),
    st.sampled_from(["Note 1:", "note 2:", "Note 12", "", "d\u2019Anna"]),
    st.sampled_from(["Anna", "ANNA", "Bob", "I'm"]),
    st.sampled_from(["", "really", "never", "just"]),
    st.sampled_from(["paid the bill", "paid bill", "paid the-bill", "lives in Rome", "mails a@b.org"]),
    st.sampled_from(["", "on Monday", "until Monday", "2 3", "23", "!"]),
)


@given(st.lists(STATEMENTS | st.text("aé1-'. ", min_size=1, max_size=8), max_size=12))
def test_one_statement_has_one_key_and_another_another(texts: list[str]) -> None:
    for a in texts:
        for b in texts:
            if wording(a).words and wording(b).words:
                assert (statement_key(a) == statement_key(b)) == same_statement(a, b)
