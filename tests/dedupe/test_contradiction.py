"""Hints of contradictions, held to a list of pairs labelled by hand."""

from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe.contradiction import Cue, Hint, contradiction
from memorata.dedupe.wording import wording

rules = import_module("memorata.dedupe.contradiction")
"""The module; the package calls its function by the same name."""

PAIRS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("labelled_contradictions.tsv").read_text("utf-8").splitlines()
]


def test_the_list_is_long_and_balanced() -> None:
    labels = [label for label, _, _ in PAIRS]
    assert len(labels) >= 100
    assert labels.count("yes") >= 50
    assert labels.count("no") >= 50
    assert len({(older, newer) for _, older, newer in PAIRS}) == len(PAIRS)


def test_hints_are_hardly_ever_wrong_and_mostly_there() -> None:
    found = {(older, newer): contradiction(older, newer) for _, older, newer in PAIRS}
    hinted = [label for label, older, newer in PAIRS if found[older, newer] is not None]
    wrong = [pair for label, *pair in PAIRS if label == "no" and found[pair[0], pair[1]] is not None]
    precision = hinted.count("yes") / len(hinted)
    recall = hinted.count("yes") / [label for label, _, _ in PAIRS].count("yes")
    assert precision >= 0.98, wrong
    assert recall >= 0.95


@pytest.mark.parametrize(
    ("older", "newer", "cue", "before", "after"),
    [
        ("Anna likes tea", "Anna doesn't like tea", Cue.NEGATION, "", ""),
        ("The shop is open", "The shop is closed", Cue.OPPOSITE, "open", "closed"),
        ("The rent is 900 euros", "The rent is 950 euros", Cue.NUMBER, "900", "950"),
        ("Anna lives in Rome", "Anna moved to Paris", Cue.CHANGE, "lives rome", "moved paris"),
        ("My dog is called Rex", "My dog is called Max", Cue.VALUE, "rex", "max"),
    ],
)
def test_each_cue_says_what_differs(older: str, newer: str, cue: Cue, before: str, after: str) -> None:
    hint = contradiction(older, newer)
    assert hint is not None
    assert (hint.cue, hint.before, hint.after) == (cue, before, after)
    assert hint.reason


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("", "Anna likes tea"),
        ("the", "the"),
        ("!!!", "???"),
        ("now", "now"),
        ("my", "my"),
        ("Anna likes tea " * 30, "Anna does not like tea " * 30),
        ("Anna likes tea", "Anna likes tea"),
        ("I don't like cats", "I like dogs"),
        ("Ticket 101 is open", "Ticket 102 is closed"),
        ("Anna is 29 years old", "Anna is not 30 years old"),
        ("The rent for Anna is 900 euros", "The rent for Bob is 950 euros"),
    ],
)
def test_odd_and_unlike_texts_give_no_hint(older: str, newer: str) -> None:
    assert contradiction(older, newer) is None


WORDS = [
    "Anna", "anna", "Bob", "I", "my", "our", "sister", "lives", "lived", "in", "Rome", "Paris", "moved", "to",
    "now", "no", "not", "doesn't", "likes", "open", "closed", "is", "the", "rent", "900", "950", "euros",
    "at", "works", "Acme", "dog", "called", "Rex", "Max", ".", "very", "Monday", "Tuesday", "meeting",
    "longer",
]  # fmt: skip
sentences = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def unpruned(older: str, newer: str) -> Hint | None:
    """Read both texts whole and lay them side by side, whatever they begin with and however they differ."""
    one, other = rules._spoken(wording(older)), rules._spoken(wording(newer))
    claims = rules._without_changes(one), rules._without_changes(other)
    if not all(1 <= len(claim) <= 40 for claim in claims) or not rules._same_subject(*claims):
        return None
    difference = rules._difference(*claims)
    hint: Hint | None = (
        rules._negation(one, other, difference)
        or rules._opposite(difference)
        or rules._number(one, other, difference)
        or rules._value(one, other, difference)
    )
    return hint


@given(sentences, sentences)
@example("My sister lives in Rome", "my sister moved to Paris")
@example("my", "my now")
def test_what_is_told_at_a_glance_is_what_reading_tells(older: str, newer: str) -> None:
    assert contradiction(older, newer) == unpruned(older, newer)


@given(st.sampled_from(PAIRS), st.lists(st.sampled_from(WORDS), max_size=4), st.integers(0, 12))
def test_nor_is_anything_missed_that_words_in_between_make_harder_to_see(
    pair: tuple[str, str, str], more: list[str], place: int
) -> None:
    _, older, newer = pair
    words = newer.split()
    longer = " ".join([*words[:place], *more, *words[place:]])
    assert contradiction(older, longer) == unpruned(older, longer)
    assert contradiction(longer, older) == unpruned(longer, older)


@pytest.mark.parametrize(
    ("one", "other"),
    [("\u1369", "\u136a"), ("1" * 5_000, "2" * 5_000), ("\U00010a40", "\U00010a41"), ("²", "³")],
)
def test_digits_that_make_no_number_are_read_as_well(one: str, other: str) -> None:
    """Ethiopic and Kharosthi digits have no places, and Python turns no more than 4,300 into a number."""
    hint = contradiction(f"The rent is {one} euros.", f"The rent is {other} euros.")
    assert hint is not None
    assert hint.cue is Cue.NUMBER
