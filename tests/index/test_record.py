import base64
import math
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.record import (
    FIELDS,
    FORGOTTEN,
    GONE,
    RECORD,
    TIERS,
    Growing,
    changed,
    decoded_terms,
    encoded_terms,
    gone,
    packed,
    unpacked,
    unpacked_run,
    visible,
)
from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory, Source, Tier

DAY = datetime(2026, 5, 7, 12, tzinfo=UTC)


def record(state: int = 0, superseded_at: float | None = None, **fields: Any) -> bytes:
    values: dict[str, Any] = {"id": "m1", "content": "tea", "created_at": DAY, "fingerprint": "00ff" * 8}
    memory = Memory(**(values | fields))
    lengths = {"content": 3, "dates": 4}
    return packed(memory, state=state, session=5, vectors=2, superseded_at=superseded_at, lengths=lengths)


def test_a_record_says_what_the_memory_says() -> None:
    found = unpacked(
        [
            record(
                tier=Tier.EPISODIC,
                confidence=0.25,
                importance=0.75,
                access_count=7,
                source=Source(session="s", position=9),
                valid_from=DAY - timedelta(days=1),
                expires_at=DAY + timedelta(days=1),
            )
        ]
    )[0]
    assert TIERS[found["tier"]] == "episodic"
    assert (found["confidence"], found["importance"], found["accesses"]) == (0.25, 0.75, 7)
    assert (found["session"], found["position"], found["vectors"]) == (5, 9, 2)
    assert found["fingerprint"] == 0x00FF00FF00FF00FF
    assert found["created"] == DAY.timestamp()
    assert found["event"] == DAY.timestamp() - 86_400
    assert found["expires"] == DAY.timestamp() + 86_400
    assert found["superseded"] == math.inf
    assert dict(zip(FIELDS, found["lengths"].tolist(), strict=True)) == {
        "content": 3, "tags": 0, "entities": 0, "speaker": 0, "dates": 4, "names": 0, "roots": 0,
    }  # fmt: skip


def test_what_is_unknown_is_marked() -> None:
    found = unpacked([record(superseded_at=12.5)])[0]
    assert (found["position"], found["expires"], found["superseded"]) == (-1, math.inf, 12.5)


def test_a_purged_slot_keeps_nothing_but_the_fact() -> None:
    found = unpacked([gone()])[0]
    assert found["state"] == GONE
    assert not any(found[name].any() for name in ("fingerprint", "confidence", "created", "event", "lengths"))


def test_records_are_132_bytes_and_end_with_the_checksum_of_the_rest() -> None:
    blob = record()
    assert len(blob) == RECORD.itemsize == 132
    assert int.from_bytes(blob[-4:], "little") == zlib.crc32(blob[:-4])


@given(st.integers(0, 131), st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_noticed(position: int, bit: int) -> None:
    blob = bytearray(record())
    blob[position] ^= 1 << bit
    with pytest.raises(IndexCorrupt):
        unpacked([record(), bytes(blob)])


@pytest.mark.parametrize(
    "blobs", [[b""], [record()[:-1]], [record() + b"\0"], [record()[:50], record()[50:]]]
)
def test_a_record_of_another_length_is_noticed(blobs: list[bytes]) -> None:
    with pytest.raises(IndexCorrupt):
        unpacked(blobs)


def test_no_records_are_an_empty_array() -> None:
    assert unpacked([]).shape == (0,)


def test_changed_columns_leave_the_rest_and_check_again() -> None:
    before = unpacked([record(confidence=0.5)])
    after = unpacked([changed(before, state=FORGOTTEN, superseded=8.0)])
    assert (after["state"][0], after["superseded"][0], after["confidence"][0]) == (FORGOTTEN, 8.0, 0.5)
    assert before["state"][0] == 0


NOW = DAY.timestamp()


@pytest.mark.parametrize(
    ("blob", "shown"),
    [
        (record(), True),
        (record(state=FORGOTTEN), False),
        (gone(), False),
        (record(superseded_at=NOW - 1), False),
        # The clock of the process that corrected it is ahead of ours; corrected is corrected.
        (record(superseded_at=NOW + 60), False),
        (record(expires_at=DAY), False),
        (record(expires_at=DAY + timedelta(seconds=1)), True),
        (record(created_at=DAY + timedelta(days=1)), True),
    ],
)
def test_what_is_shown_now(blob: bytes, shown: bool) -> None:
    assert visible(unpacked([blob]), NOW).tolist() == [shown]


@pytest.mark.parametrize(
    ("blob", "as_of", "shown"),
    [
        (record(), NOW - 1, False),
        (record(), NOW, True),
        (record(superseded_at=NOW + 10), NOW + 9, True),
        (record(superseded_at=NOW + 10), NOW + 10, False),
        (record(state=FORGOTTEN), NOW, False),
        (record(expires_at=DAY + timedelta(seconds=5)), NOW, False),
    ],
)
def test_what_was_believed_then(blob: bytes, as_of: float, shown: bool) -> None:
    assert visible(unpacked([blob]), NOW + 100, as_of=as_of).tolist() == [shown]


def test_the_mask_has_one_place_per_record() -> None:
    assert visible(unpacked([record(), gone(), record()]), NOW).dtype == np.bool_
    assert visible(unpacked([record(), gone(), record()]), NOW).tolist() == [True, False, True]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.data())
def test_a_run_is_checked_as_its_records_are_one_by_one(sure: list[float], data: st.DataObject) -> None:
    parts = [record(confidence=each) for each in sure]
    run = bytearray(b"".join(parts))
    assert unpacked_run(bytes(run), len(parts))["confidence"].tolist() == sure
    assert unpacked_run(bytes(run), len(parts)).tobytes() == unpacked(parts).tobytes()
    run[data.draw(st.integers(0, len(run) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(IndexCorrupt):
        unpacked_run(bytes(run), len(parts))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_run_of_another_number_of_records_is_refused(count: int) -> None:
    with pytest.raises(IndexCorrupt):
        unpacked_run(gone() + gone(), count)


TERMS = st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=8), st.integers(1, 10**9)))


@given(TERMS)
def test_what_goes_in_comes_out(terms: dict[str, dict[str, int]]) -> None:
    assert decoded_terms(encoded_terms(terms)) == terms


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(encoded_terms({"content": {"tea": 2, "grün": 1}}))
    position = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        decoded_terms(bytes(blob))


@pytest.mark.parametrize("cut", [0, 1, 7, 12])
def test_a_cut_is_noticed(cut: int) -> None:
    with pytest.raises(IndexCorrupt):
        decoded_terms(encoded_terms({"content": {"tea": 2}})[:cut])


def test_a_version_nobody_knows_is_said() -> None:
    with pytest.raises(IndexCorrupt, match="unknown version 9"):
        decoded_terms(b"\x09" + encoded_terms({})[1:])


@given(st.lists(st.lists(st.integers(-1000, 1000), max_size=20), max_size=20))
def test_it_holds_what_was_added_in_order(parts: list[list[int]]) -> None:
    rows = Growing(np.int32, ())
    for part in parts:
        rows.extend(np.array(part, np.int32))
    assert rows.view.tolist() == [value for part in parts for value in part]
    assert len(rows) == sum(map(len, parts))


def test_rows_may_have_a_shape() -> None:
    rows = Growing(np.float32, (2,))
    rows.extend(np.array([[1, 2], [3, 4]], np.float32))
    assert rows.view.shape == (2, 2)
    assert rows.nbytes == 16


def test_reserved_room_is_used_without_moving() -> None:
    rows = Growing(np.int32, ())
    rows.reserve(10)
    rows.extend(np.arange(4))
    before = rows.view
    rows.extend(np.arange(6))
    assert np.shares_memory(before, rows.view)
    rows.reserve(3)
    assert rows.view.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5]


def test_a_view_that_was_taken_before_stays_as_it_was() -> None:
    rows = Growing(np.int32, ())
    rows.extend(np.array([1, 2]))
    taken = rows.view
    rows.extend(np.arange(100))
    assert taken.tolist() == [1, 2]


def test_a_copy_is_independent() -> None:
    rows = Growing(np.int32, ())
    rows.extend(np.array([1, 2]))
    copy = rows.copy()
    copy.view[0] = 7
    copy.extend(np.array([3]))
    assert rows.view.tolist() == [1, 2]
    assert copy.view.tolist() == [7, 2, 3]


def test_words_with_a_right_checksum_that_are_none_are_refused() -> None:
    """Found by fuzzing: whoever makes a file can make its checksums."""
    with pytest.raises(IndexCorrupt, match="cannot be read"):
        decoded_terms(base64.b64decode("Af//AAAAAP//"))
