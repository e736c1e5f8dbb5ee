"""Hints of contradictions, held to a list of pairs labelled by hand."""

from pathlib import Path

import pytest

from recollect.duplicates.contradiction import Cue, contradiction

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
