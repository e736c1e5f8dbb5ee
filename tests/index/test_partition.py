import gc
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index import partition as module
from memorata.index.lexical import Saturated, TermList
from memorata.index.partition import Partition
from memorata.index.postings import MAX_FREQUENCY, inverted
from memorata.index.record import FORGOTTEN, Records, changed, gone, packed, unpacked
from memorata.index.speakers import Speakers
from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory, Source
from memorata.rank.bm25 import BM25

DAY = datetime(2026, 5, 7, 12, tzinfo=UTC)
NOW = DAY.timestamp()


def record(words: int = 3, superseded_at: float | None = None, **fields: Any) -> bytes:
    values: dict[str, Any] = {"id": "m1", "content": "tea", "created_at": DAY}
    memory = Memory(**(values | fields))
    lengths = {"content": words}
    return packed(memory, state=0, session=-1, vectors=0, superseded_at=superseded_at, lengths=lengths)


def filled(*records: bytes) -> Partition:
    partition = Partition(2, exact=True)
    partition.append(unpacked(records))
    return partition


def listed(found: TermList) -> dict[int, int]:
    return dict(zip(found.slots.tolist(), found.frequencies.tolist(), strict=True))


def test_records_and_lengths_are_kept_slot_by_slot() -> None:
    partition = filled(record(3), record(5))
    partition.append(unpacked([record(7)]))
    assert len(partition) == 3
    assert partition.lengths("content").tolist() == [3, 5, 7]
    assert partition.lengths("tags").tolist() == [0, 0, 0]


def test_sight_counts_what_may_be_seen_and_averages_only_that() -> None:
    partition = filled(record(3), record(5), record(100, superseded_at=NOW - 1), gone())
    visibility = partition.visibility(NOW, None)
    assert visibility.mask is not None
    assert visibility.mask.tolist() == [True, True, False, False]
    assert visibility.count == 2
    assert visibility.average_lengths["content"] == 4
    assert visibility.average_lengths["tags"] == 0


def test_the_average_is_over_memories_that_have_the_field() -> None:
    assert filled(record(4), record(0)).visibility(NOW, None).average_lengths["content"] == 4


def test_without_anything_hidden_there_is_no_mask() -> None:
    assert filled(record()).visibility(NOW, None).mask is None


def test_sight_is_kept_until_something_expires_or_changes() -> None:
    partition = filled(record(expires_at=DAY + timedelta(seconds=10)), record())
    first = partition.visibility(NOW, None)
    assert partition.visibility(NOW + 9, None) is first
    later = partition.visibility(NOW + 10, None)
    assert (first.count, later.count) == (2, 1)
    # Clocks may go back: what expired then had not expired before.
    assert partition.visibility(NOW + 5, None).count == 2
    partition.replace(1, unpacked([gone()]))
    assert partition.visibility(NOW + 5, None).count == 1
    partition.append(unpacked([record()]))
    assert partition.visibility(NOW + 5, None).count == 2


def test_what_was_believed_then_is_computed_each_time() -> None:
    partition = filled(record(superseded_at=NOW + 10), record(created_at=DAY + timedelta(seconds=10)))
    present = partition.visibility(NOW + 20, None)
    then = partition.visibility(NOW + 20, NOW + 5)
    assert then.mask is not None
    assert then.mask.tolist() == [True, False]
    assert partition.visibility(NOW + 20, None) is present


def test_lengths_that_an_explanation_holds_are_not_written_over() -> None:
    partition = filled(record(3), record(5))
    held = partition.lengths("content")
    partition.replace(0, unpacked([gone()]))
    assert held.tolist() == [3, 5]
    assert partition.lengths("content").tolist() == [0, 5]


def test_a_changed_record_with_the_same_words_copies_nothing() -> None:
    partition = filled(record(3), record(5))
    before = partition.lengths("content")
    partition.replace(0, unpacked([changed(partition.records[:1], state=FORGOTTEN)]))
    assert np.shares_memory(before, partition.lengths("content"))
    assert partition.records["state"].tolist() == [FORGOTTEN, 0]


def test_the_tail_lists_words_in_slot_order_until_a_new_generation() -> None:
    partition = filled(record(), record())
    partition.remember_tail(0, {"content": {"tea": 2}})
    partition.remember_tail(1, {"content": {"tea": 250_000}, "tags": {"tea": 1}})
    assert listed(partition.tail_list("content", "tea")) == {0: 2, 1: MAX_FREQUENCY}
    assert listed(partition.tail_list("tags", "tea")) == {1: 1}
    assert listed(partition.tail_list("content", "milk")) == {}
    partition.start_generation(1, 2)
    assert listed(partition.tail_list("content", "tea")) == {}
    assert (partition.generation, partition.flushed) == (1, 2)


@pytest.mark.untraced
def test_the_tail_gives_a_garbage_collector_nothing_to_go_through() -> None:
    # A server that holds a thousand namespaces would stand still for a quarter of a second now and then.
    partition = Partition(0, exact=True)
    gc.collect()
    before = len(gc.get_objects())
    for slot in range(50):
        partition.remember_tail(slot, {"content": {f"{slot} {word}": 1 for word in range(20)}})
    assert len(gc.get_objects()) - before < 50


def test_terms_without_postings_do_not_fill_the_memory() -> None:
    partition = filled(record())
    tea = TermList(np.zeros(1, np.int32), np.ones(1, np.uint16))
    nothing = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))
    partition.cache_list("content", "tea", tea)
    before = partition.nbytes
    for number in range(10_000):
        partition.cache_list("content", str(number), nothing)
    assert partition.nbytes - before <= 1024 * 1024
    assert partition.cached_list("content", "0") is None
    last = partition.cached_list("content", "9999")
    assert last is not None
    assert not last.slots.size
    assert partition.cached_list("content", "tea") is tea


def test_what_a_filter_lets_through_is_asked_once_and_then_only_of_what_was_added() -> None:
    partition = filled(record(), record(), record())
    asked: list[int] = []

    def read(start: int) -> list[int]:
        asked.append(start)
        return [slot for slot in range(start, len(partition)) if slot % 2 == 0]

    assert partition.passing("even", read).tolist() == [True, False, True]
    assert partition.passing("even", read).tolist() == [True, False, True]
    partition.append(unpacked([record(), record()]))
    assert partition.passing("even", read).tolist() == [True, False, True, False, True]
    assert asked == [0, 3]
    partition.replace(1, unpacked([record()]))
    partition.passing("even", read)
    assert asked == [0, 3, 0]
    with pytest.raises(ValueError, match="read-only"):
        partition.passing("even", read)[0] = False


def test_what_a_posting_is_worth_is_kept_while_the_same_may_be_seen() -> None:
    partition = filled(record(), record(expires_at=DAY + timedelta(seconds=10)))
    worth = Saturated(np.array([0, 1]), np.array([1, 1], np.uint16), np.array([0.5, 0.5]))
    scorer = BM25(0.9, 0.4)

    def known(now: float, as_of: float | None = None, given: BM25 = scorer) -> Saturated | None:
        key = "content", "tea"
        return partition.cached_saturated(partition.visibility(now, as_of), [key], given)[key]

    partition.cache_saturated(partition.visibility(NOW, None), "content", "tea", scorer, worth)
    assert known(NOW + 5) is worth
    assert known(NOW, given=BM25(1.2, 0.4)) is None
    # Another look at the past neither reads nor writes what belongs to the present.
    assert known(NOW, as_of=NOW) is None
    partition.cache_saturated(partition.visibility(NOW, NOW), "content", "milk", scorer, worth)
    key = "content", "milk"
    assert partition.cached_saturated(partition.visibility(NOW, None), [key], scorer) == {key: None}
    assert known(NOW + 10) is None
    changes: tuple[Callable[[], None], ...] = (
        lambda: partition.append(unpacked([record()])),
        lambda: partition.replace(0, unpacked([record()])),
        lambda: partition.start_generation(1, 0),
    )
    for change in changes:
        partition.cache_saturated(partition.visibility(NOW, None), "content", "tea", scorer, worth)
        assert known(NOW) is worth
        change()
        assert known(NOW) is None


def test_pending_counts_living_memories_without_a_vector() -> None:
    partition = filled(record(), record(), gone())
    assert partition.pending() == 2
    partition.add_vectors(np.array([1], np.int32), np.ones((1, 2), np.float32))
    assert partition.pending() == 1
    records: Records = unpacked([record()])
    partition.append(records)
    assert partition.pending() == 2


records_ = st.lists(
    st.builds(
        record,
        st.integers(0, 5),
        superseded_at=st.sampled_from([None, NOW - 1]),
        expires_at=st.sampled_from([None, None, None, DAY + timedelta(hours=2)]),
        tags=st.sampled_from([(), ("tea",)]),
    )
    | st.just(changed(unpacked([record(4)]), state=FORGOTTEN))
    | st.just(gone()),
    max_size=4,
)


@given(st.lists(st.tuples(records_, st.booleans()), max_size=6))
def test_what_is_added_to_what_was_seen_is_what_a_new_look_would_see(
    steps: list[tuple[list[bytes], bool]],
) -> None:
    grown, whole = Partition(2, exact=True), []
    for records, embedded in steps:
        start = len(grown)
        grown.append(unpacked(records))
        if embedded:
            owners = np.repeat(np.arange(start, len(grown), dtype=np.int32), 2)
            grown.add_vectors(owners, np.ones((owners.size, 2), np.float32))
        whole += [(each, embedded) for each in records]
        fresh = filled(*(each for each, _ in whole))
        owners = np.flatnonzero([has for _, has in whole]).astype(np.int32)
        fresh.add_vectors(owners, np.ones((owners.size, 2), np.float32))
        assert grown.pending() == fresh.pending()
        for now in (NOW, NOW + 3 * 3600):
            visibility, anew = grown.visibility(now, None), fresh.visibility(now, None)
            assert (visibility.mask is None) == (anew.mask is None)
            assert (
                visibility.mask is None or anew.mask is None or visibility.mask.tolist() == anew.mask.tolist()
            )
            assert (visibility.count, visibility.average_lengths) == (anew.count, anew.average_lengths)
            assert (visibility.since, visibility.until) == (anew.since, anew.until)


def test_adding_to_what_was_seen_leaves_the_look_of_others_alone() -> None:
    partition = filled(record(3), record(5, superseded_at=NOW - 1))
    before = partition.visibility(NOW, None)
    partition.append(unpacked([record(7)]))
    after = partition.visibility(NOW, None)
    assert after is partition.visibility(NOW, None)
    assert before.mask is not None
    assert after.mask is not None
    assert (before.mask.tolist(), before.count) == ([True, False], 1)
    assert (after.mask.tolist(), after.count) == ([True, False, True], 2)
    assert after.average_lengths["content"] == 5


def test_segments_are_read_once_and_after_that_only_new_ones() -> None:
    partition, known = filled(record()), []
    value = inverted([(0, {"content": {"tea": 1}})], 0).encoded()

    def read(*rows: tuple[int, int, bytes | None]) -> list[int]:
        def rows_after(last: int) -> Iterable[tuple[int, int, bytes | None]]:
            known.append(last)
            return rows

        return [first for first, _ in partition.segments(rows_after)]

    before = partition.nbytes
    assert read((1, 0, value), (2, 1, value)) == [0, 1]
    assert partition.nbytes == before + 2 * len(value)
    assert read() == [0, 1]
    partition.start_generation(2, 1)
    assert read((2, 1, None), (3, 2, value)) == [1, 2]
    assert known == [0, 2]


def test_names_are_read_once_and_again_where_a_memory_has_changed() -> None:
    partition, asked = filled(record(), record()), []

    def read(start: int, changed: list[int]) -> dict[int, str]:
        asked.append((start, changed))
        return {slot: f'["{len(asked)}"]' for slot in [*range(start, 2), *changed]}

    assert partition.names([0, 1], read) == partition.names([0, 1], read) == ['["1"]'] * 2
    partition.replace(1, unpacked([record()]))
    assert partition.names([0], read) == ['["1"]']
    assert partition.names([0, 1], read) == ['["1"]', '["2"]']
    partition.append(unpacked([record()]))
    partition.add_names(2, ['["3"]'])
    assert partition.names([2], read) == ['["3"]']
    assert asked == [(0, []), (2, [1])]


def test_who_speaks_in_what_was_just_added_is_not_read() -> None:
    partition, asked = filled(record()), []

    def read(start: int) -> list[tuple[str, str]]:
        asked.append(start)
        return [("one", "Anna")]

    bruno = Source(speaker="Bruno", session="one")
    partition.add_speakers(1, [bruno])
    assert partition.speakers(read).names == {"Anna"}
    partition.append(unpacked([record(), record()]))
    partition.add_speakers(1, [bruno, Source(session="two")])
    assert partition.speakers(read).names == partition.speakers(read).of("one") == {"Anna", "Bruno"}
    assert not partition.speakers(read).of("two")
    assert asked == [0]


def test_people_talk_in_pairs_where_hardly_any_session_has_more_than_two() -> None:
    speakers = Speakers()
    assert speakers.in_pairs
    speakers.add(("", name) for name in ("Anna", "Bruno", "Clara"))
    # Nobody talks to anybody.
    assert not speakers.in_pairs
    speakers.add((f"s{number}", name) for number in range(9) for name in ("Anna", "Bruno"))
    assert speakers.in_pairs
    speakers.add(("all", name) for name in ("Anna", "Bruno", "Clara", "Dana"))
    assert speakers.in_pairs
    speakers.add([("s1", "Clara"), ("s1", "Dana"), ("s1", "Clara")])
    assert not speakers.in_pairs


def test_damaged_lists_are_no_lists() -> None:
    with pytest.raises(IndexCorrupt):
        filled(record()).segments(lambda _: [(1, 0, b"damaged")])


def test_memories_are_read_once_and_nothing_that_can_be_written_to_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = [Memory(id=f"m{slot}", content="tea", created_at=DAY) for slot in range(3)]
    told.append(Memory(id="m3", content="tea", created_at=DAY, metadata={"cups": [1, 2]}))
    asked: list[list[int]] = []

    def read(slots: list[int]) -> dict[int, Memory]:
        asked.append(slots)
        return {slot: told[slot] for slot in slots}

    partition = filled(*[record()] * 4)
    assert partition.memories([1, 0], read) == [told[1], told[0]]
    assert partition.memories([0, 2], read) == [told[0], told[2]]
    assert partition.memories([0, 1], read) == [told[0], told[1]]
    assert partition.memories([3], read) == partition.memories([3], read) == [told[3]]
    assert partition.memories([0, 3], read, together=True) == [told[0], told[3]]
    assert asked == [[1, 0], [2], [3], [3], [0, 3]]
    size = partition.nbytes
    partition.forget_memories()
    assert size - partition.nbytes > 3 * len("tea")
    monkeypatch.setattr(module, "_MAX_MEMORY_BYTES", 1)
    assert partition.memories([0, 1, 2], read) == told[:3]
    asked.clear()
    assert partition.memories([1, 2], read) == told[1:3]
    assert asked == [[1]]
