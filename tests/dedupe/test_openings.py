"""What two texts begin with rules out that they concern each other, and never wrongly."""

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe import openings
from memorata.dedupe.decisions import Verdict
from memorata.dedupe.openings import LETTERS, Opening, are_close, concern, concerned, gist, opening
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends, same_statement
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

rules = import_module("memorata.dedupe.contradiction")
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
    "her", "that's", "I'll", "one", "1", "2b", "bank", "hates", "never", "is", "teacher", "Bob", "only",
    "child", "vegetarian", "had", "steak", "one.", "so,", "他", "住在", "罗马",
]  # fmt: skip
sentences = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def share(a: str, b: str) -> tuple[bool, bool]:
    """Tell whether two texts have one subject, and whether one begins with the letters of the other."""
    one, other = opening(a), opening(b)
    shorter, longer = sorted((one.letters, other.letters), key=len)
    return one.subject == other.subject != "", longer.startswith(shorter)


def alike(a: str, b: str) -> bool:
    """Tell whether the gists of two texts are those of texts that may concern each other."""
    other = gist(b)
    (found,) = are_close(
        gist(a),
        np.array([other.words], np.uint64),
        np.array([other.kinds], np.uint32),
        np.array([other.spelling], np.uint32),
    )
    return bool(found)


def check(a: str, b: str) -> None:
    contradicted = contradiction(a, b) is not None or contradiction(b, a) is not None
    repeated = same_statement(a, b) or extends(a, b) or extends(b, a)
    one_subject, one_beginning = share(a, b)
    assert one_subject or not contradicted
    assert one_beginning or not repeated
    assert alike(a, b) == alike(b, a)
    assert alike(a, b) or not (contradicted or repeated)
    assert concern(a, b) or not (contradicted or repeated)
    if one_subject or one_beginning:
        found = concerned(b, [a], []) if one_beginning else concerned(b, [], [a])
        assert found == [a] or not concern(a, b)


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


def test_few_are_compared_word_by_word() -> None:
    said = ["Anna paints harbours in the evening", "Anna collects stamps of Norway", "Anna likes green tea"]
    assert concerned("Anna plays chess with her friends", [], said) == []
    assert said[1] in concerned("Anna never collects stamps", [], said)
    assert concerned("Anna moved", [], ["Anna lives in Rome"]) == ["Anna lives in Rome"]
    assert concerned("Anna likes green tea and cakes", said[2:], said[:2]) == said[2:]


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
        assert concern(older.content, newer.content)


def test_a_gist_tells_what_has_nothing_to_do_with_each_other() -> None:
    said = "Anna collects stamps and rare maps"
    assert alike(said, "Anna never collects rare stamps and maps")
    assert alike(said, "anna collects stamps and rare maps from Norway")
    assert not alike(said, "Anna collects stamps and rare coins")
    assert not alike(said, "Anna plays chess with seven friends every winter")
    assert alike("data base data base data base", "database database database")
    assert alike("Anna lives in Rome", "Anna moved to Paris")
    assert alike("the shop is open", "the store is closed")
    assert gist("").words == gist("the").words == 0


@pytest.mark.parametrize("bad", [None, 3, b"tea"])
def test_only_texts_open(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="text"):
        opening(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="text"):
        gist(bad)  # type: ignore[arg-type]


def test_what_is_kept_of_words_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Quentin never doesn't collect forty-two zithers of Zanzibar"
    first = gist(text)
    monkeypatch.setattr(openings, "_MAX_PIECES", 3)
    assert gist(f"Yvonne weighs walruses {text}").words | first.words != first.words
    assert gist(text) == first
    gist("Una unties umbrellas under umber ultramarines")
    assert len(openings._PIECES) <= 3


def test_a_long_text_has_no_subject() -> None:
    said = "Anna lives in Rome, and so on" + " and on" * 40
    assert opening(said).subject == ""
    assert opening(said[:200]).subject == "anna"
