"""Duplicates among many memories: both methods, the groups, who stays."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from recollect.duplicates.fingerprint import fingerprint
from recollect.duplicates.methods import Method
from recollect.duplicates.signatures import ShingleSigner
from recollect.engine.duplicate_search import DuplicateSearch, FoundDuplicates
from recollect.model.memory import Memory
from recollect.store.port import Floats

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
    return DuplicateSearch(0.92, ShingleSigner(), **options).run(memories, given)


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
    assert (found.groups[0].kind, found.compared, found.method) == ("exact", 4, Method.MATRIX)


@pytest.mark.parametrize("method", ["matrix", "lsh"])
@pytest.mark.parametrize("embedded", [True, False])
def test_both_methods_find_nearly_the_same_words(method: str, embedded: bool) -> None:
    texts = [
        "Anna really likes the green tea from Japan in the morning",
        "Anna likes the green tea from Japan in the morning",
        "Anna likes the green tea from China in the morning",
        "The rent of the house by the sea is 900 euros a month",
        "The rent of the house by the sea is 950 euros a month",
        "Bob sails",
    ]
    vectors: list[Floats | None] = [row(1, 0), row(1, 0.1), row(1, 0.05), row(0, 1), row(0.01, 1), row(-1, 0)]
    found = search([memory(*each) for each in enumerate(texts)], vectors if embedded else None, method=method)
    assert ids(found) == [("m1", ["m0"])]
    assert found.groups[0].kind == "near"
    assert found.method == method


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
    for method in ("matrix", "lsh"):
        assert search([], method=method).groups == ()
    told: list[tuple[str, int, int]] = []
    DuplicateSearch(0.92, ShingleSigner()).run(
        [memory(0, "a"), memory(1, "a")], [None, None], lambda *t: told.append(t)
    )
    assert told[0][0] == "comparing"
    assert told[-1][0] == "reading candidates"
