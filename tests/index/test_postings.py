import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.postings import (
    MAX_FREQUENCY,
    PLACES,
    SPAN,
    Lists,
    inverted,
    key_of,
    merged,
    opened,
    parts_of,
    places_of,
    term_lists,
)
from memorata.model.errors import IndexCorrupt

Documents = list[tuple[int, dict[str, dict[str, int]]]]

WORDS = st.dictionaries(st.sampled_from(["a", "b", "ab", "é", "手机", "a b\0c\n"]), st.integers(1, 5))
FIELDS = st.dictionaries(st.sampled_from(["content", "tags"]), WORDS, max_size=2)


def listed(documents: Documents) -> dict[tuple[str, str], dict[int, int]]:
    """The obvious way: one dictionary per term."""
    lists: dict[tuple[str, str], dict[int, int]] = {}
    for slot, fields in documents:
        for field, terms in fields.items():
            for term, times in terms.items():
                lists.setdefault((field, term), {})[slot] = min(times, MAX_FREQUENCY)
    return lists


def read(lists: Lists, first: int) -> dict[tuple[str, str], dict[int, int]]:
    """Everything the blocks hold, each key looked for where it has to be."""
    buckets, blocks = lists.blocks()
    by_place = dict(blocks)
    assert len(by_place) == len(blocks)
    result = {}
    for block in by_place.values():
        for key in opened(block)[0]:
            low, long = places_of(key)
            places = [place for place in (low & (buckets - 1), long) if place in by_place]
            field, term = parts_of(key)
            (only,) = [
                hits[field] for place in places if field in (hits := term_lists(by_place[place], term))
            ]
            slots = (only[0].astype(int) + first).tolist()
            assert slots == sorted(slots)
            result[field, term] = dict(zip(slots, only[1].tolist(), strict=True))
    return result


@given(st.lists(FIELDS, max_size=12), st.integers(0, 10**9))
def test_inverting_lists_every_term_of_every_field(
    fields: list[dict[str, dict[str, int]]], first: int
) -> None:
    documents = list(enumerate(fields, first))
    assert read(inverted(documents, first), first) == listed(documents)


@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=5), min_size=1, max_size=4), st.sets(st.integers(0, 19))
)
def test_merging_is_inverting_everything_at_once_without_the_gone(
    segments: list[list[dict[str, dict[str, int]]]], gone: set[int]
) -> None:
    first, documents, parts = 100, [], []
    position = first
    for segment in segments:
        members = list(enumerate(segment, position))
        documents += members
        parts += [(position, block) for _, block in inverted(members, position).blocks()[1]]
        position += len(segment)
    dropped = np.isin(np.arange(position - first), list(gone))
    living = [document for document in documents if document[0] - first not in gone]
    assert read(merged(parts, first, dropped), first) == listed(living)


def test_many_terms_make_many_small_blocks_and_long_lists_stand_alone() -> None:
    documents: Documents = [(slot, {"content": {"tea": 1, f"cup{slot}": 2}}) for slot in range(2_000)]
    lists = inverted(documents, 0)
    assert read(lists, 0) == listed(documents)
    buckets, blocks = lists.blocks()
    # 2,000 keys of about 15 bytes and a posting of 4 are 37 kB, so 64 buckets of at most 1 kB on average.
    assert buckets == 64
    long = [place for place, _ in blocks if place >= PLACES // 2]
    assert long == [places_of(key_of("content", "tea"))[1]]
    assert max(len(block) for place, block in blocks if place not in long) < 2_000


def test_what_a_term_has_in_all_fields_is_read_at_once() -> None:
    documents: Documents = [
        (slot, {"content": {"tea": 2, f"cup{slot}": 1}, "tags": {"tea": 1, "steam": 1}})
        for slot in range(0, 400, 2)
    ]
    buckets, blocks = inverted(documents, 0).blocks()
    low, long = places_of(key_of("content", "tea"))
    assert (low, long) == places_of(key_of("tags", "tea"))
    hits = term_lists(dict(blocks)[low & (buckets - 1)], "tea")
    assert {field: (slots.tolist(), set(times.tolist())) for field, (slots, times) in hits.items()} == {
        "content": (list(range(0, 400, 2)), {2}),
        "tags": (list(range(0, 400, 2)), {1}),
    }


def test_what_is_gone_leaves_no_trace() -> None:
    _, blocks = inverted([(0, {"content": {"tea": 1}}), (1, {"content": {"milk": 1}})], 0).blocks()
    ((_, block),) = merged([(0, block) for _, block in blocks], 0, np.array([True, False])).blocks()[1]
    assert b"tea" not in block
    assert opened(block)[0] == [key_of("content", "milk")]


def test_the_last_slot_of_the_longest_segment_fits() -> None:
    _, ((_, block),) = inverted([(SPAN + SPAN - 1, {"content": {"tea": 1}})], SPAN).blocks()
    assert opened(block)[2].tolist() == [SPAN - 1]


@pytest.mark.untraced
def test_a_term_of_every_slot_of_the_longest_segment_fits() -> None:
    _, ((_, block),) = inverted([(slot, {"content": {"tea": 1}}) for slot in range(SPAN)], 0).blocks()
    assert term_lists(block, "tea")["content"][0].tolist() == list(range(SPAN))


def test_a_frequency_beyond_two_bytes_counts_as_the_largest() -> None:
    _, ((_, block),) = inverted([(0, {"content": {"tea": 250_000}})], 0).blocks()
    assert opened(block)[3].tolist() == [MAX_FREQUENCY]


BLOCK = inverted([(1, {"content": {"tea": 1}}), (5, {"content": {"tea": 2}})], 0).blocks()[1][0][1]


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    block = bytearray(BLOCK)
    position = data.draw(st.integers(0, len(block) - 1).filter(lambda at: at not in (1, 2, 3)))
    block[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        opened(bytes(block))


@pytest.mark.parametrize("cut", [0, 7, 9, 15, 16, 20, 30])
def test_a_cut_is_noticed(cut: int) -> None:
    assert cut < len(BLOCK)
    with pytest.raises(IndexCorrupt):
        opened(BLOCK[:cut])


def test_an_unknown_version_is_said() -> None:
    with pytest.raises(IndexCorrupt, match="unknown version 4"):
        opened(b"\x04" + BLOCK[1:])


def test_nothing_merges_to_nothing() -> None:
    assert merged([], 0, np.zeros(0, np.bool_)).blocks() == (1, [])
    assert inverted([], 0).blocks() == (1, [])


@pytest.mark.parametrize(
    "body",
    [
        b'{"content": {"tea": 2}}',
        b"\x03\x00\x1d\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00",
        b"\x01\x00\x00\x00\x08\x00\x00\x00\x02\x00g\xff\xff\xff\xffs\xfetea",
        b"\x00\x00\x00\x00\x00\x00\x00\x00",
        b"\x01\x00\x00\x00\x08\x00\x00\x00\x09\x00\x00\x00tags\xfetea\x03\x00\x09\x00\x01\x00\x02\x00",
    ],
)
def test_blocks_with_a_right_checksum_that_are_none_are_refused(body: bytes) -> None:
    """Found by fuzzing: whoever makes a file can make its checksums."""
    block = b"\x03\x00\x00\x00" + zlib.crc32(body).to_bytes(4, "little") + body
    for read in (opened, lambda block: term_lists(block, "tea")):
        with pytest.raises(IndexCorrupt):
            read(block)
