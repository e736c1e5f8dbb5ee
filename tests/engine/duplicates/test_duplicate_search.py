"""Duplicates among many memories: the pairs, the groups, and the memory that stays."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from memorata.dedupe.decisions import Verdict, resolve
from memorata.dedupe.fingerprint import fingerprint
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends
from memorata.engine.duplicate_search import DuplicateSearch, FoundDuplicates
from memorata.index.codes import Floats
from memorata.model.memory import Memory

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def memory(number: int, content: str, **fields: Any) -> Memory:
    made: dict[str, Any] = {
        "id": f"m{number}",
        "created_at": DAY + timedelta(days=number),
        "fingerprint": fingerprint(content),
    }
    return Memory(**(made | fields), content=content)


def row(*numbers: float) -> Floats:
    vector = np.array([numbers], np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def search(
    memories: list[Memory], vectors: list[Floats | None] | None = None, **options: Any
) -> FoundDuplicates:
    given = [None] * len(memories) if vectors is None else vectors
    return DuplicateSearch(0.92, **options).run(memories, given)


def ids(found: FoundDuplicates) -> list[tuple[str, list[str]]]:
    return [(group.keep.id, [each.id for each in group.repeats]) for group in found.groups]


def test_the_same_words_make_one_group_around_the_surest() -> None:
    said = [
        memory(0, "Anna likes tea", confidence=0.8),
        memory(1, "Bob sails"),
        memory(2, "anna likes tea", confidence=0.9),
        memory(3, "ANNA likes tea!", confidence=0.8),
    ]
    found = search(said)
    assert ids(found) == [("m2", ["m0", "m3"])]
    assert (found.groups[0].kind, found.compared) == ("exact", 4)


@pytest.mark.parametrize("embedded", [True, False])
def test_nearly_the_same_words_are_found(embedded: bool) -> None:
    texts = [
        "Anna really likes the green tea from Japan in the morning",
        "Anna likes the green tea from Japan in the morning",
        "Anna likes the green tea from China in the morning",
        "The rent of the house by the sea is 900 euros a month",
        "The rent of the house by the sea is 950 euros a month",
        "Bob sails",
    ]
    vectors: list[Floats | None] = [row(1, 0), row(1, 0.1), row(1, 0.05), row(0, 1), row(0.01, 1), row(-1, 0)]
    found = search([memory(*each) for each in enumerate(texts)], vectors if embedded else None)
    assert ids(found) == [("m1", ["m0"])]
    assert found.groups[0].kind == "near"


def test_a_vector_on_one_side_only_leaves_it_to_the_letters() -> None:
    texts = ["Anna really likes the green tea from Japan", "Anna likes the green tea from Japan", "Bob sails"]
    found = search([memory(*each) for each in enumerate(texts)], [row(1, 0), None, row(0, 1)])
    assert ids(found) == [("m1", ["m0"])]


def test_vectors_that_point_elsewhere_keep_two_apart() -> None:
    texts = ["Anna really likes the green tea from Japan", "Anna likes the green tea from Japan"]
    assert ids(search([memory(*each) for each in enumerate(texts)], [row(1, 0), row(0, 1)])) == []


def test_a_likeness_is_not_handed_on_along_a_chain() -> None:
    # Confidences of 0.5, 0.65 and 0.8: the ends are too far apart to be one.
    said = [memory(place, "Anna likes tea", confidence=sure) for place, sure in enumerate((0.5, 0.65, 0.8))]
    assert ids(search(said)) == [("m2", ["m1"])]
    assert ids(search(said[:2])) == [("m1", ["m0"])]


def test_strategies_choose_who_stays() -> None:
    said = [memory(0, "Anna likes tea", confidence=0.9), memory(1, "Anna likes tea", confidence=0.8)]
    assert ids(search(said)) == [("m0", ["m1"])]
    assert ids(search(said, strategy="keep_most_recent")) == [("m1", ["m0"])]
    assert ids(search(said, strategy="keep_both")) == []


def test_merging_joins_contents_once() -> None:
    said = [memory(0, "Anna likes the tea from Japan"), memory(1, "Anna likes tea from Japan a lot")]
    found = search(said, [row(1, 0), row(1, 0)], strategy="merge")
    assert found.groups[0].content == "Anna likes the tea from Japan\nAnna likes tea from Japan a lot"
    assert (
        search([said[0], memory(1, "anna likes the tea from Japan")], strategy="merge").groups[0].kind
        == "exact"
    )


def test_what_says_more_is_not_superseded() -> None:
    shorter, longer = (
        memory(1, "The user prefers dark mode"),
        memory(0, "The user prefers dark mode in editors"),
    )
    assert ids(search([longer, shorter], [row(1, 0)] * 2, strategy="keep_most_recent")) == []
    assert ids(search([shorter, longer], [row(1, 0)] * 2, strategy="keep_highest_confidence")) == []
    newer = memory(2, "The user prefers dark mode in editors")
    assert ids(search([shorter, newer], [row(1, 0)] * 2)) == [("m2", ["m1"])]


def test_what_is_pinned_stays() -> None:
    said = [memory(0, "tea", pinned=True), memory(1, "tea"), memory(2, "tea", pinned=True)]
    assert ids(search(said)) == [("m0", ["m1"])]


def test_a_correction_wins() -> None:
    said = [memory(0, "The rent is 900 euros"), memory(1, "The rent is 950 euros", category="correction")]
    found = search(said, [row(1, 0)] * 2)
    assert (ids(found), found.groups[0].kind) == ([("m1", ["m0"])], "correction")


def test_paraphrases_only_if_asked_for() -> None:
    said = [memory(0, "Anna's favourite drink is green tea"), memory(1, "Anna likes green tea most of all")]
    assert ids(search(said, [row(1, 0)] * 2)) == []
    assert ids(search(said, [row(1, 0)] * 2, paraphrases=True)) == [("m1", ["m0"])]


def test_nothing_has_no_duplicates_and_progress_is_told() -> None:
    assert search([]).groups == search([], paraphrases=True).groups == ()
    told: list[tuple[str, int, int]] = []
    DuplicateSearch(0.92).run([memory(0, "a"), memory(1, "a")], [None, None], lambda *t: told.append(t))
    assert told[0][0] == "reading words"
    assert told[-1][0] == "reading candidates"


def template(number: int, dress: int = 0) -> str:
    """Return one of the texts of a template, plain or in one of three other dresses."""
    who, day = ("Anna", "Bob", "Carla")[number % 3], ("Monday", "Friday")[number % 2]
    verb = ("paid", "really paid", "PAID", "just paid")[dress]
    return f"Note {number}: {who} {verb} the bill of the harbour cafe on {day}"


def crowd(count: int) -> list[Floats | None]:
    """Return vectors that are all nearly one."""
    rows = np.random.default_rng(7).normal(0, 0.02, (count, 8)) + np.eye(8)[0]
    return [row(*each) for each in rows]


def slow(said: list[Memory], vectors: list[Floats | None]) -> list[tuple[str, list[str]]]:
    """Return the groups as reading every pair gives them, in the order in which winners are found."""
    one = set()
    for a, b in combinations(range(len(said)), 2):
        left, right = vectors[a], vectors[b]
        cosine = None if left is None or right is None else min(1.0, float(left[0] @ right[0]))
        if judge(said[a], said[b], cosine).verdict in (Verdict.DUPLICATE, Verdict.CORRECTION):
            one |= {(a, b), (b, a)}
    found = []
    left_over = list(range(len(said)))
    while len(left_over) > 1:
        pinned = [place for place in left_over if said[place].pinned]
        winner = resolve([said[place] for place in left_over]).winner
        centre = pinned[0] if pinned else next(place for place in left_over if said[place] is winner)
        losers = [
            place
            for place in left_over
            if (centre, place) in one
            and not said[place].pinned
            and not extends(said[place].content, said[centre].content)
        ]
        left_over = [place for place in left_over if place not in {centre, *losers}]
        if losers:
            found.append((said[centre].id, [said[place].id for place in losers]))
    return sorted(found)


@pytest.mark.untraced
@pytest.mark.parametrize("embedded", [True, False])
def test_of_texts_of_one_template_the_repeats_are_those_that_reading_every_pair_gives(embedded: bool) -> None:
    said = [memory(place, template(place * 7 % 40, place // 40)) for place in range(120)]
    said[50] = memory(50, "Note 3: Anna paid no bill of the harbour cafe on Friday", category="correction")
    said[90] = memory(90, template(4) + " evening", pinned=True)
    vectors: list[Floats | None] = crowd(120) if embedded else [None] * 120
    expected = slow(said, vectors)
    found = ids(search(said, vectors))
    assert sorted(found) == expected
    assert len(found) == 40
    assert ("m50", ["m29"]) in found


@pytest.mark.untraced
@pytest.mark.parametrize("embedded", [True, False])
def test_the_pairs_that_are_read_are_bounded_however_alike_all_are(embedded: bool) -> None:
    count = 1_500
    said = [memory(place, template(place)) for place in range(count)]
    said += [memory(count + place, template(place * 10, 1)) for place in range(count // 10)]
    vectors = crowd(len(said)) if embedded else None
    found = search(said, vectors)
    assert found.candidates <= len(said)
    assert len(found.groups) == count // 10
    assert search(said, vectors) == found


@pytest.mark.untraced
def test_paraphrases_in_a_crowd_are_bounded_too() -> None:
    names = [f"{one}{other}o".title() for one in "bdfgklmnpr" for other in "aeiou"]
    said = [memory(place, f"{name} paid the bill of the cafe") for place, name in enumerate(names * 2)]
    said = [replace(each, id=f"m{place}") for place, each in enumerate(said)]
    found = search(said, crowd(len(said)), paraphrases=True)
    assert found.candidates <= 16 * len(said)
    assert search(said, crowd(len(said)), paraphrases=True) == found


def test_a_long_chain_is_grouped_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [memory(0, "Anna paid the bill of the harbour cafe", confidence=0.8)]
    said += [
        memory(n, f"Anna paid the bill of the harbour cafe {'abcdefghij'[n % 10] * n}") for n in range(1, 20)
    ]
    calls = 0

    def counted(*given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        return judge(*given, **options)

    monkeypatch.setattr("memorata.engine.duplicate_search.judge", counted)
    found = search(said)
    assert [group.repeats[0].id for group in found.groups] == ["m0"]
    assert calls <= 4 * len(said)
