from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.postings import MOST, SPAN, decoded, encoded, inverted, merged
from recollect.model.errors import IndexCorrupt

Documents = list[tuple[int, dict[str, dict[str, int]]]]

WORDS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5))
FIELDS = st.dictionaries(st.sampled_from(["content", "tags"]), WORDS, max_size=2)


def listed(documents: Documents) -> dict[tuple[str, str], dict[int, int]]:
    """The obvious way: one dictionary per term."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    for slot, fields in documents:
        for field, terms in fields.items():
            for term, times in terms.items():
                found.setdefault((field, term), {})[slot] = min(times, MOST)
    return found


def read(lists: Mapping[tuple[str, str], bytes], first: int) -> dict[tuple[str, str], dict[int, int]]:
    result = {}
    for key, blob in lists.items():
        slots, times = decoded(blob)
        result[key] = dict(zip((slots.astype(int) + first).tolist(), times.tolist(), strict=True))
    return result


@given(st.lists(FIELDS, max_size=12), st.integers(0, 10**9))
def test_inverting_lists_every_term_of_every_field(
    fields: list[dict[str, dict[str, int]]], first: int
) -> None:
    documents = list(enumerate(fields, first))
    lists = {(field, term): blob for field, term, blob in inverted(documents, first)}
    assert read(lists, first) == listed(documents)


@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=5), min_size=1, max_size=4), st.sets(st.integers(0, 19))
)
def test_merging_is_inverting_everything_at_once_without_the_gone(
    segments: list[list[dict[str, dict[str, int]]]], gone: set[int]
) -> None:
    first, documents, lists = 100, [], []
    position = first
    for segment in segments:
        members = list(enumerate(segment, position))
        documents += members
        lists += [((field, term), position, blob) for field, term, blob in inverted(members, position)]
        position += len(segment)
    dropped = np.isin(np.arange(position - first), list(gone))
    living = [document for document in documents if document[0] - first not in gone]
    assert read(dict(merged(sorted(lists), first, dropped)), first) == listed(living)


def test_the_last_slot_of_the_longest_segment_fits() -> None:
    ((_, _, blob),) = inverted([(SPAN + SPAN - 1, {"content": {"tea": 1}})], SPAN)
    assert decoded(blob)[0].tolist() == [SPAN - 1]


def test_a_frequency_beyond_two_bytes_counts_as_the_largest() -> None:
    ((_, _, blob),) = inverted([(0, {"content": {"tea": 250_000}})], 0)
    assert decoded(blob)[1].tolist() == [MOST]


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(encoded(np.array([1, 5], np.uint16), np.array([1, 2], np.uint16)))
    position = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        decoded(bytes(blob))


@pytest.mark.parametrize("cut", [0, 7, 9, 12])
def test_a_cut_is_noticed(cut: int) -> None:
    with pytest.raises(IndexCorrupt):
        decoded(encoded(np.array([1, 5], np.uint16), np.array([1, 2], np.uint16))[:cut])


def test_an_unknown_version_is_said() -> None:
    blob = encoded(np.array([1], np.uint16), np.array([1], np.uint16))
    with pytest.raises(IndexCorrupt, match="unknown version 2"):
        decoded(b"\x02" + blob[1:])


def test_nothing_merges_to_nothing() -> None:
    assert list(merged([], 0, np.zeros(0, np.bool_))) == []
