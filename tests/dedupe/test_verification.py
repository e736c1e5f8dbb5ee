"""Whether two memories are one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.dedupe.decisions import Verdict
from memorata.dedupe.fingerprint import fingerprint
from memorata.dedupe.verification import is_turn, judge, resemblance
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def memory(content: str, **fields: Any) -> Memory:
    made: dict[str, Any] = {"id": "m", "created_at": DAY, "fingerprint": fingerprint(content)}
    return Memory(**(made | fields), content=content)


def verdict(a: Memory, b: Memory, cosine: float | None = 0.99, **options: Any) -> Verdict:
    one, other = judge(a, b, cosine, **options), judge(b, a, cosine, **options)
    assert one.verdict is other.verdict
    return one.verdict


def test_a_turn_has_a_speaker_a_session_and_a_position() -> None:
    assert is_turn(memory("tea", source=Source("Anna", "s", 0)))
    assert not is_turn(memory("tea", source=Source("Anna", "s")))
    assert not is_turn(memory("tea", source=Source("Anna", position=1)))
    assert not is_turn(memory("tea", source=Source(session="notes.md", position=0)))
    with pytest.raises(InvalidArgument):
        is_turn("tea")  # type: ignore[arg-type]


def test_letters_are_compared_without_their_dress() -> None:
    assert resemblance("Tea", " tea. ") == 1.0
    assert resemblance("tea", "milk") == 0.0


def test_the_same_words_are_a_duplicate_whatever_the_vectors_say() -> None:
    for cosine in (1.0, 0.2, None):
        assert verdict(memory("Anna likes tea"), memory("anna likes tea."), cosine) is Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("cosine", "expected"), [(0.95, Verdict.DUPLICATE), (0.91, Verdict.DISTINCT), (None, Verdict.DUPLICATE)]
)
def test_nearly_the_same_words_need_a_cosine_if_there_is_one(cosine: float | None, expected: Verdict) -> None:
    a, b = memory("Anna really likes the green tea of Japan"), memory("Anna likes the green tea of Japan")
    assert verdict(a, b, cosine) is expected
    assert verdict(a, b, 0.91, threshold=0.9) is Verdict.DUPLICATE


def test_without_vectors_the_letters_have_to_say_more() -> None:
    a, b = memory("It is really on"), memory("It is on")
    assert resemblance(a.content, b.content) < 0.6
    assert verdict(a, b, None) is Verdict.DISTINCT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"source": Source("Anna", "s", 1)}, {}),
        ({"source": Source("Anna", "s", 1)}, {"source": Source("Anna", "s", 2)}),
        ({"source": Source(speaker="Anna")}, {"source": Source(speaker="Bob")}),
        ({"place": Place(1, 2)}, {"place": Place(2, 1)}),
        ({"entities": ("Anna", "Ida")}, {"entities": ("Bob",)}),
        ({"valid_from": DAY}, {}),
        ({"category": "event"}, {"category": "event", "created_at": DAY + timedelta(days=1)}),
        ({"category": "fact"}, {"category": "preference"}),
    ],
)
def test_another_occasion_or_kind_is_another_statement(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert verdict(memory("I like tea", **one), memory("I like tea", **other)) is Verdict.DISTINCT


@pytest.mark.parametrize("names", [(), ("anna",), ("Bob", "Anna")])
def test_a_name_in_common_or_none_at_all_tells_nothing_apart(names: tuple[str, ...]) -> None:
    a, b = memory("Likes tea", entities=("Anna",)), memory("Likes tea", entities=names)
    assert verdict(a, b) is Verdict.DUPLICATE


def test_a_passage_of_two_files_is_one_statement() -> None:
    a, b = (memory("I like tea", source=Source(session=file, position=7)) for file in ("a.md", "b.md"))
    assert verdict(a, b) is Verdict.DUPLICATE


def test_a_gap_in_confidence_keeps_both() -> None:
    a, b = memory("I like tea", confidence=0.9), memory("I like tea", confidence=0.6)
    assert verdict(a, b) is Verdict.KEEP_BOTH


def test_a_correction_wins_over_what_it_repeats_or_contradicts() -> None:
    old = memory("The rent of the flat is 900 euros")
    fix = memory(
        "The rent of the flat is 950 euros", category="correction", created_at=DAY + timedelta(days=1)
    )
    decision = judge(old, fix, 0.99)
    assert (decision.verdict, decision.winner) == (Verdict.CORRECTION, fix)
    again = memory("The rent of the flat is 950 euros", created_at=DAY + timedelta(days=2))
    decision = judge(fix, again, 1.0)
    assert (decision.verdict, decision.winner) == (Verdict.CORRECTION, fix)
    # What was said after it may be a newer truth: both stay, and the rules hint at the contradiction.
    later = memory("The rent of the flat is 990 euros", created_at=DAY + timedelta(days=2))
    assert verdict(fix, later) is Verdict.DISTINCT
    other = memory("The garage of the flat is 40 metres long")
    assert verdict(other, fix) is Verdict.DISTINCT


def test_paraphrases_count_only_if_asked_for_and_never_against_a_rule() -> None:
    a, b = memory("Anna's favourite drink is green tea"), memory("Anna likes green tea most of all drinks")
    assert verdict(a, b, 0.96) is Verdict.DISTINCT
    assert verdict(a, b, 0.96, paraphrases=True) is Verdict.DUPLICATE
    for one, other in (
        ("The rent is 900 euros", "The rent is 950 euros"),
        ("It is on", "It is not on"),
        ("My dog is called Rex", "My dog is called Max"),
    ):
        assert verdict(memory(one), memory(other), 0.99, paraphrases=True) is Verdict.DISTINCT
