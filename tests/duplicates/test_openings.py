"""What two texts begin with rules out that they concern each other, and never wrongly."""

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.duplicates.decisions import Verdict
from recollect.duplicates.near import judge
from recollect.duplicates.openings import LETTERS, Opening, opening, repeats_any
from recollect.duplicates.wording import extends, same_statement
from recollect.model.errors import InvalidArgument
from recollect.model.memory import Memory

rules = import_module("recollect.duplicates.contradiction")
contradiction = rules.contradiction
DAY = datetime(2026, 5, 7, tzinfo=UTC)
PAIRS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("labelled_contradictions.tsv").read_text("utf-8").splitlines()
]
WORDS = [
    "Anna", "anna", "annas", "I", "we", "my", "My", "our", "sister", "Sisters", "likes", "like", "Likes",
    "the", "a", "really", "not", "doesn't", "can't", "won't", "will", "now", "moved", "lives", "in", "Rome",
    "data", "base", "data-base", "database", "tea", "2", "3", "é", "e\u0301", "ёлка", "елка", "Über", "ist",
    "kein", "-", "!", "working", "workings", "Working", "open", "closed", "a.b@c.de", "ﬁsh", "fish", "’s",
    "her", "that's",
]  # fmt: skip
sentences = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def share(a: str, b: str) -> tuple[bool, bool]:
    """Tell whether two texts have one subject, and whether one begins with the letters of the other."""
    one, other = opening(a), opening(b)
    shorter, longer = sorted((one.letters, other.letters), key=len)
    return one.subject == other.subject != "", longer.startswith(shorter)


def concern(a: str, b: str) -> tuple[bool, bool]:
    """Tell whether a rule says that one contradicts the other, and that one repeats the other."""
    contradicted = contradiction(a, b) is not None or contradiction(b, a) is not None
    return contradicted, same_statement(a, b) or extends(a, b) or extends(b, a)


def check(a: str, b: str) -> None:
    contradicted, repeated = concern(a, b)
    one_subject, one_beginning = share(a, b)
    assert one_subject or not contradicted
    assert one_beginning or not repeated
    assert repeats_any(a, ["x y z", b]) == repeated
    assert repeats_any(a, []) is False


@pytest.mark.parametrize(
    ("text", "subject", "letters"),
    [
        ("Anna really likes the tea.", "anna", "annalike"),
        ("The data-base is slow", "data-ba", "database"),
        ("Now my sister lives in Rome", "my sis", "nowmysis"),
        ("We live in Rome", "i", "weliveinR".lower()[:LETTERS]),
        ("Not now", "", "notnow"),
        ("the really", "", "thereall"),
        ("My", "", "my"),
        ("", "", ""),
        ("!?", "", ""),
    ],
)
def test_an_opening_is_a_subject_and_some_letters(text: str, subject: str, letters: str) -> None:
    assert opening(text) == Opening(subject, letters)


@given(sentences, sentences)
@example("Likes tea", "likes tea")
@example("Workings of tea", "Working of tea")
@example("data base", "database now")
@example("my my tea", "my my tea not")
@example("I can't like my open tea now", "I can like my open tea now")
def test_nothing_is_missed(a: str, b: str) -> None:
    check(a, b)


@given(st.sampled_from(PAIRS), st.lists(st.sampled_from(WORDS), max_size=3), st.integers(0, 9))
def test_nor_in_texts_that_people_wrote(pair: tuple[str, str, str], more: list[str], place: int) -> None:
    _, a, b = pair
    words = a.split()
    longer = " ".join([*words[:place], *more, *words[place:]])
    for one, other in ((a, b), (a, longer), (b, longer)):
        check(one, other)


@given(sentences, sentences, st.sampled_from(["fact", "correction"]), st.sampled_from([0.3, 0.95, None]))
def test_whatever_is_judged_to_be_one_may_concern_the_other(
    a: str, b: str, category: str, cosine: float | None
) -> None:
    older = Memory(id="a", content=a or "x", created_at=DAY)
    newer = Memory(id="b", content=b or "x", created_at=DAY, category=category)
    verdict = judge(older, newer, cosine).verdict
    if verdict in (Verdict.DUPLICATE, Verdict.CORRECTION):
        assert any(concern(older.content, newer.content))


@pytest.mark.parametrize("bad", [None, 3, b"tea"])
def test_only_texts_open(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="text"):
        opening(bad)  # type: ignore[arg-type]
