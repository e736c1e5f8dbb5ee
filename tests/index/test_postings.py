import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.postings import (
    MAX_FREQUENCY,
    SPAN,
    Lists,
    SegmentLists,
    inverted,
    key_of,
    merged,
    parts_of,
    term_hashes,
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


def of(lists: SegmentLists, term: str) -> dict[str, tuple[list[int], list[int]]]:
    """The lists of a term by field, as a search finds them."""
    found = ((parts_of(key), slots, times) for key, slots, times in lists.found(term_hashes([term])))
    return {field: (slots.tolist(), times.tolist()) for (field, same), slots, times in found if same == term}


def read(lists: Lists, first: int) -> dict[tuple[str, str], dict[int, int]]:
    """Everything that a segment lists, each key looked for by its hash."""
    decoded = SegmentLists.decoded(lists.encoded())
    result = {}
    for field, term in map(parts_of, decoded.keys()):
        relative, times = of(decoded, term)[field]
        assert relative == sorted(relative)
        result[field, term] = {slot + first: often for slot, often in zip(relative, times, strict=True)}
    assert len(result) == len(decoded)
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
        parts.append((position, SegmentLists.decoded(inverted(members, position).encoded())))
        position += len(segment)
    dropped = np.isin(np.arange(position - first), list(gone))
    living = [document for document in documents if document[0] - first not in gone]
    assert read(merged(parts, first, dropped), first) == listed(living)


@given(st.lists(FIELDS, min_size=1, max_size=8), st.dictionaries(st.integers(0, 7), FIELDS))
def test_merging_lists_reworded_documents_under_their_new_words(
    fields: list[dict[str, dict[str, int]]], reworded: dict[int, dict[str, dict[str, int]]]
) -> None:
    documents = dict(enumerate(fields))
    changed = {slot: words for slot, words in reworded.items() if slot in documents}
    dropped = np.isin(np.arange(len(fields)), list(changed))
    lists = SegmentLists.decoded(inverted(documents.items(), 0).encoded())
    result = merged([(0, lists)], 0, dropped, inverted(sorted(changed.items()), 0))
    assert read(result, 0) == listed([*(documents | changed).items()])


def test_terms_with_one_hash_are_told_apart() -> None:
    # The checksums of both are 0x4DDB0C25.
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    lists = inverted([(3, {"tags": {"plumless": 1}}), (9, {"tags": {"buckeroo": 2}})], 0)
    assert read(lists, 0) == {("tags", "plumless"): {3: 1}, ("tags", "buckeroo"): {9: 2}}


def test_what_a_term_has_in_all_fields_is_found_at_once() -> None:
    documents: Documents = [
        (slot, {"content": {"tea": 2, f"cup{slot}": 1}, "tags": {"tea": 1, "steam": 1}})
        for slot in range(0, 400, 2)
    ]
    slots = list(range(0, 400, 2))
    decoded = SegmentLists.decoded(inverted(documents, 0).encoded())
    assert of(decoded, "tea") == {"content": (slots, [2] * 200), "tags": (slots, [1] * 200)}
    assert of(decoded, "milk") == {}


def test_what_is_gone_leaves_no_trace() -> None:
    both = inverted([(0, {"content": {"tea": 1}}), (1, {"content": {"milk": 1}})], 0).encoded()
    value = merged([(0, SegmentLists.decoded(both))], 0, np.array([True, False])).encoded()
    assert b"tea" not in value
    assert SegmentLists.decoded(value).keys() == [key_of("content", "milk")]


def test_the_last_slot_of_the_longest_segment_fits() -> None:
    lists = inverted([(SPAN + SPAN - 1, {"content": {"tea": 1}})], SPAN)
    assert SegmentLists.decoded(lists.encoded()).slots.tolist() == [SPAN - 1]


@pytest.mark.untraced
def test_a_term_of_every_slot_of_the_longest_segment_fits() -> None:
    lists = inverted([(slot, {"content": {"tea": 1}}) for slot in range(SPAN)], 0)
    assert SegmentLists.decoded(lists.encoded()).slots.tolist() == list(range(SPAN))


def test_a_frequency_beyond_two_bytes_counts_as_the_largest() -> None:
    lists = inverted([(0, {"content": {"tea": 250_000}})], 0)
    assert SegmentLists.decoded(lists.encoded()).frequencies.tolist() == [MAX_FREQUENCY]


VALUE = inverted([(1, {"content": {"tea": 1}}), (5, {"content": {"tea": 2}})], 0).encoded()


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    value = bytearray(VALUE)
    position = data.draw(st.integers(0, len(value) - 1).filter(lambda at: at not in (1, 2, 3)))
    value[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        SegmentLists.decoded(bytes(value))


@pytest.mark.parametrize("cut", [0, 7, 9, 15, 16, 20, 30])
def test_a_cut_is_noticed(cut: int) -> None:
    assert cut < len(VALUE)
    with pytest.raises(IndexCorrupt):
        SegmentLists.decoded(VALUE[:cut])


def test_an_unknown_version_is_said() -> None:
    with pytest.raises(IndexCorrupt, match="unknown version 5"):
        SegmentLists.decoded(b"\x05" + VALUE[1:])


def test_nothing_merges_to_nothing() -> None:
    nothing = inverted([], 0).encoded()
    assert read(merged([], 0, np.zeros(0, np.bool_)), 0) == {}
    assert read(merged([(0, SegmentLists.decoded(nothing))], 0, np.zeros(0, np.bool_)), 0) == {}


def forged(counts: tuple[int, int, int], *arrays: list[int], names: bytes) -> bytes:
    """A value with a right checksum, which whoever makes a file can make."""
    kinds = ("<u4", "<u4", "<u4", "<u2", "<u2")
    body = np.array(counts, "<u4").tobytes() + b"".join(
        np.array(array, kind).tobytes() for array, kind in zip(arrays, kinds, strict=True)
    )
    return b"\x04\x00\x00\x00" + zlib.crc32(body + names).to_bytes(4, "little") + body + names


TEA = b"tags\xfetea"
HASH = zlib.crc32(b"tea")


def test_what_is_forged_by_the_book_is_read() -> None:
    value = forged((1, 8, 2), [HASH], [9], [2], [3, 9], [1, 2], names=TEA)
    assert of(SegmentLists.decoded(value), "tea") == {"tags": ([3, 9], [1, 2])}


@pytest.mark.parametrize(
    "value",
    [
        b"\x04\x00\x00\x00" + zlib.crc32(b"").to_bytes(4, "little"),
        forged((2, 8, 2), [HASH], [9], [2], [3, 9], [1, 2], names=TEA),
        forged((1, 8, 3), [HASH], [9], [2], [3, 9], [1, 2], names=TEA),
        forged((1, 8, 2), [HASH], [8], [2], [3, 9], [1, 2], names=TEA),
        forged((1, 8, 2), [HASH], [9], [1], [3, 9], [1, 2], names=TEA),
        forged((1, 8, 0), [HASH], [9], [0], [], [], names=TEA),
        forged((2, 5, 2), [9, 7], [3, 6], [1, 2], [3, 9], [1, 2], names=b"a\xfe\xffb\xfe"),
        forged((2, 5, 2), [7, 9], [4, 6], [1, 2], [3, 9], [1, 2], names=b"a\xfe\xffb\xfe"),
        forged((2, 5, 2), [7, 9], [3, 6], [2, 2], [3, 9], [1, 2], names=b"a\xfe\xffb\xfe"),
        forged((1, 3, 1), [7], [4], [1], [3], [1], names=b"a\xff\xfe"),
    ],
)
def test_values_with_a_right_checksum_that_are_none_are_refused(value: bytes) -> None:
    with pytest.raises(IndexCorrupt):
        SegmentLists.decoded(value)


def test_a_name_that_is_no_text_is_refused_when_it_is_read() -> None:
    lists = SegmentLists.decoded(forged((1, 2, 1), [7], [3], [1], [3], [1], names=b"\x80\xfe"))
    with pytest.raises(IndexCorrupt):
        parts_of(lists.key(0))
