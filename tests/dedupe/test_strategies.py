from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.decisions import (
    STRATEGIES,
    Strategy,
    Survivor,
    joined_once,
    keep_both,
    keep_highest_confidence,
    keep_most_recent,
    merge,
    precedence,
    resolve,
)
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

DAY = datetime(2026, 5, 7, tzinfo=UTC)


@dataclass(frozen=True)
class Record:
    content: str
    category: str = "preference"
    confidence: float = 0.8
    created_at: datetime = DAY
    mentions: int = 1


SURE = Record("Alice likes tea", confidence=0.9, created_at=DAY, mentions=2)
NEW = Record("Alice loves tea", confidence=0.7, created_at=DAY + timedelta(days=3), mentions=1)
OFTEN = Record("alice likes TEA!", confidence=0.8, created_at=DAY + timedelta(days=1), mentions=5)
RECORDS = st.lists(
    st.builds(
        Record,
        content=st.sampled_from(["tea", "Tea.", "more tea", "cake", ""]),
        category=st.sampled_from(["preference", "correction"]),
        confidence=st.sampled_from([0.5, 0.7, 0.9]),
        created_at=st.integers(0, 2).map(lambda days: DAY + timedelta(days=days)),
        mentions=st.integers(0, 3),
    ),
    min_size=2,
    max_size=5,
)


def test_the_highest_confidence_stays_as_it_is() -> None:
    resolution = keep_highest_confidence([NEW, SURE, OFTEN])
    assert resolution.winner is SURE
    assert [(link.claim, link.by) for link in resolution.superseded] == [(NEW, SURE), (OFTEN, SURE)]
    assert resolution.survivor == Survivor("Alice likes tea", 0.9, DAY, 2)


def test_the_most_recent_stays_as_it_is() -> None:
    resolution = keep_most_recent([SURE, NEW, OFTEN])
    assert resolution.winner is NEW
    assert [(link.claim, link.by) for link in resolution.superseded] == [(SURE, NEW), (OFTEN, NEW)]
    assert resolution.survivor == Survivor("Alice loves tea", 0.7, DAY + timedelta(days=3), 1)


def test_merging_joins_what_each_one_adds() -> None:
    resolution = merge([NEW, OFTEN, SURE])
    assert resolution.winner is SURE
    assert [(link.claim, link.by) for link in resolution.superseded] == [(NEW, SURE), (OFTEN, SURE)]
    # Oldest first; "alice likes TEA!" says nothing new.
    assert resolution.survivor == Survivor(
        "Alice likes tea\nAlice loves tea", 0.9, DAY + timedelta(days=3), 8
    )


def test_keeping_both_changes_nothing() -> None:
    resolution = keep_both([SURE, NEW])
    assert (resolution.winner, resolution.superseded, resolution.survivor) == (None, (), None)


def test_equal_records_are_still_two_claims() -> None:
    first, second = replace(SURE), replace(SURE)
    resolution = keep_highest_confidence([first, second])
    assert resolution.winner is first
    assert [link.claim is second for link in resolution.superseded] == [True]
    assert len(merge([first, first]).superseded) == 1


def test_merged_contents_of_one_instant_keep_the_given_order() -> None:
    a, b = Record("b first"), Record("a second")
    merged = merge([a, b]).survivor
    assert merged is not None
    assert merged.content == "b first\na second"


def test_the_registry_names_every_strategy() -> None:
    assert dict(STRATEGIES) == {
        "keep_highest_confidence": keep_highest_confidence,
        "keep_most_recent": keep_most_recent,
        "merge": merge,
        "keep_both": keep_both,
    }
    with pytest.raises(TypeError):
        STRATEGIES["other"] = merge  # type: ignore[index]


@given(RECORDS, st.sampled_from(["keep_highest_confidence", "keep_most_recent", "merge"]))
def test_one_stays_and_all_others_link_to_it(claims: list[Record], name: str) -> None:
    resolution = STRATEGIES[name](claims)
    winner = resolution.winner
    assert winner is not None
    assert all(link.by is winner for link in resolution.superseded)
    remaining = list(map(id, claims))
    remaining.remove(id(winner))
    assert [id(link.claim) for link in resolution.superseded] == remaining


@given(RECORDS)
def test_what_merging_keeps(claims: list[Record]) -> None:
    survivor = merge(claims).survivor
    assert survivor is not None
    assert survivor.confidence == sorted(claim.confidence for claim in claims)[-1]
    assert survivor.created_at == sorted(claim.created_at for claim in claims)[-1]
    assert survivor.mentions == sum(claim.mentions for claim in claims)
    said = {claim.content.rstrip(".").lower() for claim in claims}
    kept = [line.rstrip(".").lower() for line in survivor.content.split("\n")]
    assert len(kept) == len(set(kept))
    # Of the contents that can occur here, "tea" stands in "more tea", and "" in everything.
    expected = said - ({"tea"} if "more tea" in said else set())
    assert set(kept) == (expected - {""} or {""})


@given(RECORDS, st.sampled_from(sorted(STRATEGIES)))
def test_resolving_lets_the_newest_correction_win(claims: list[Record], name: str) -> None:
    resolution = resolve(claims, name)
    corrections = [claim for claim in claims if claim.category == "correction"]
    if corrections:
        winner = resolution.winner
        assert winner is not None
        assert winner.category == "correction"
        assert winner.created_at == max(claim.created_at for claim in corrections)
        assert len(resolution.superseded) == len(claims) - 1
        assert resolution.survivor == Survivor(
            winner.content, winner.confidence, winner.created_at, winner.mentions
        )
    else:
        assert resolution == STRATEGIES[name](claims)


def test_the_default_keeps_the_highest_confidence() -> None:
    assert resolve([NEW, SURE]).winner is SURE


def test_memories_can_be_resolved() -> None:
    old = Memory(id="m1", content="Likes tea", created_at=DAY, confidence=0.9)
    new = Memory(id="m2", content="Loves tea", created_at=DAY + timedelta(days=1), confidence=0.8)
    resolution = resolve([old, new], "keep_most_recent")
    assert resolution.winner is not None
    assert (resolution.winner.id, resolution.superseded[0].claim.id) == ("m2", "m1")


@pytest.mark.parametrize("strategy", [*STRATEGIES.values(), resolve])
@pytest.mark.parametrize(
    ("claims", "named"),
    [
        ([], "claims must be a list of two or more claims"),
        ([SURE], "claims must be a list of two or more claims"),
        (None, "claims must be"),
        ("two", "claims must be"),
        (SURE, "claims must be"),
        ([SURE, None], r"claims\[1\] must be a claim"),
        ([replace(SURE, confidence=float("nan")), NEW], r"claims\[0\]\.confidence must be"),
        ([SURE, replace(NEW, created_at=datetime(2026, 5, 7))], r"claims\[1\]\.created_at must be"),
        ([SURE, replace(NEW, mentions=-1)], r"claims\[1\]\.mentions must be"),
    ],
)
def test_claims_are_two_or_more(strategy: Strategy, claims: Sequence[Record], named: str) -> None:
    with pytest.raises(InvalidArgument, match=named):
        strategy(claims)


@given(RECORDS, st.sampled_from(list(STRATEGIES)))
def test_precedence_is_who_wins_when_each_winner_is_taken_away(claims: list[Record], name: str) -> None:
    left = list(range(len(claims)))
    order = []
    while len(left) > 1:
        winner = resolve([claims[place] for place in left], name).winner
        if winner is None:
            break
        order.append(next(place for place in left if claims[place] is winner))
        left.remove(order[-1])
    assert precedence(claims, name)[: len(order)] == order
    assert sorted(precedence(claims, name)) == list(range(len(claims))) or name == "keep_both"


def test_precedence_takes_claims_and_a_strategy() -> None:
    assert precedence([]) == []
    with pytest.raises(InvalidArgument, match="strategy"):
        precedence([SURE], "toss")
    for bad in ("tea", None, 5):
        with pytest.raises(InvalidArgument, match="claims"):
            precedence(bad)  # type: ignore[type-var, arg-type]
    with pytest.raises(InvalidArgument, match=r"claims\[0\]"):
        precedence([None])  # type: ignore[type-var]


@pytest.mark.parametrize("name", ["keep_all", "", None, 1, merge])
def test_an_unknown_strategy_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="strategy must be one of 'keep_highest_confidence'"):
        resolve([SURE, NEW], name)


PHRASES = st.lists(
    st.sampled_from(["tea", "Tea,", "teapot", "3", "3.50", "and", "C", "C#", "!!!"]), max_size=4
).map(" ".join)


def contains(whole: str, part: str) -> bool:
    """Compare every window of words with the part, word by word."""
    outer, inner = (
        [word.strip(".,!?\"'()") or word for word in content.casefold().split()] for content in (whole, part)
    )
    return any(outer[start : start + len(inner)] == inner for start in range(len(outer) - len(inner) + 1))


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (["Likes tea", "Lives in Rome"], "Likes tea\nLives in Rome"),
        (["Likes tea", "Likes tea"], "Likes tea"),
        (["Likes tea.", "LIKES  tea"], "Likes tea."),
        (["Likes tea", "Likes tea and cake"], "Likes tea and cake"),
        (["Likes tea and cake", "likes tea!"], "Likes tea and cake"),
        (["Likes tea", "Likes teapots"], "Likes tea\nLikes teapots"),
        (["It costs 3", "It costs 3.50"], "It costs 3\nIt costs 3.50"),
        (["Writes C", "Writes C#"], "Writes C\nWrites C#"),
        (["Likes tea", 'Said: "Likes tea", twice'], 'Said: "Likes tea", twice'),
        (["Likes tea", "tea likes"], "Likes tea\ntea likes"),
        (["a", "b", "a b", "b"], "a b"),
        (["", "Likes tea", " "], "Likes tea"),
        (["", ""], ""),
        (["!!!", "???"], "!!!\n???"),
        (["tea", "!!!"], "tea\n!!!"),
        (["tea\n!!!", "!!!"], "tea\n!!!"),
        (["ＴＥＡ", "tea", "Tea…"], "ＴＥＡ"),
        (["alone"], "alone"),
        (["\ud800", "\x00"], "\ud800\n\x00"),
    ],
)
def test_by_hand(contents: list[str], expected: str) -> None:
    assert joined_once(contents) == expected


@given(st.lists(PHRASES, min_size=1, max_size=5))
def test_each_content_is_said_once(contents: list[str]) -> None:
    slow = [
        content
        for place, content in enumerate(contents)
        if not any(
            contains(other, content) and (not contains(content, other) or rival < place)
            for rival, other in enumerate(contents)
            if rival != place
        )
    ]
    assert joined_once(contents) == "\n".join(slow)


@given(st.lists(st.text() | PHRASES, min_size=1, max_size=5))
def test_joining_again_adds_nothing(contents: list[str]) -> None:
    joined = joined_once(contents)
    assert joined_once([joined, *contents]) == joined


@pytest.mark.parametrize(
    ("contents", "named"),
    [
        ([], "contents"),
        ("text", "contents"),
        (None, "contents"),
        (3, "contents"),
        (["a", 3], r"contents\[1\]"),
    ],
)
def test_contents_are_texts(contents: list[str], named: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{named} must be"):
        joined_once(contents)
