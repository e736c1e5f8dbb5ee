"""Posting lists in blocks: which slots of a segment have a term, and how often.

Most terms are rare (Zipf's law), so a row of its own for each list would be little but wrapping. The short
lists of a segment are put together in blocks of about a kilobyte, which are found by the hash of a term as
the buckets of a hash table are, so that what a term has in all fields is read at once; the few long lists get
blocks of their own. A segment spans at most 65,536
slots, so a slot is two bytes relative to the segment's first, and a frequency two more. Every block carries a
version and a checksum: what does not check is rebuilt, never trusted.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from struct import Struct
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.errors import IndexCorrupt

SPAN: Final = 65_536
"""The most slots one segment covers."""
MAX_FREQUENCY: Final = 65_535
"""Frequencies above this count as this; BM25 has long stopped telling them apart."""
PLACES: Final = 2**20
"""Blocks of a segment have places below this; the upper half is for long lists."""

_VERSION: Final = 3
_HEAD: Final = Struct("<BxxxI")
_COUNTS: Final = Struct("<II")
_ENDS: Final = Struct("<II")
_MAX_SHORT_LIST: Final = 512
_BLOCK_BYTES: Final = 1_024
_HALF: Final = PLACES // 2
_TWO_BYTES: Final = np.dtype("<u2")
_FOUR_BYTES: Final = np.dtype("<u4")
# UTF-8 has neither of these bytes, so no field and no term can hold one.
_BETWEEN: Final = b"\xfe"
_END: Final = b"\xff"

Key: TypeAlias = bytes
"""A field and a term, as :func:`key_of` joins them."""
Slots = npt.NDArray[np.uint16]
Frequencies = npt.NDArray[np.uint16]
Block: TypeAlias = tuple[list[Key], npt.NDArray[np.uint32], Slots, Frequencies]
"""Keys, the length of each key's list, and all lists one after the other."""
Checked: TypeAlias = tuple[bytes, int, int, int]
"""A block that is sound: how many keys it has, where their names begin and where the lists do."""


def key_of(field: str, term: str) -> Key:
    """Return the key of a term in a field; :func:`parts_of` takes it apart."""
    return field.encode() + _BETWEEN + term.encode()


def parts_of(key: Key) -> tuple[str, str]:
    """Return the field and the term of a key."""
    field, _, term = key.partition(_BETWEEN)
    return field.decode(), term.decode()


def places_of(key: Key) -> tuple[int, int]:
    """Return where a key's list is if it is short, and where if it is long; both by its term alone.

    The first is for as many buckets as there can be; a segment of 2^n uses the lowest n bits of it.
    """
    (hashed,) = _hashes([key])
    return hashed % _HALF, _HALF + (hashed >> 13)


@frozen(eq=False)
class Lists:
    """Posting lists that belong together, not yet in order; a key may have no postings left.

    A posting has the position of its key (`owners`), its relative slot, ascending in a key, and how often.
    """

    keys: Sequence[Key]
    owners: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    frequencies: npt.NDArray[np.int64]

    def blocks(self) -> tuple[int, list[tuple[int, bytes]]]:
        """Return the number of buckets, a power of two, and every block with its place."""
        sizes = np.bincount(self.owners, minlength=len(self.keys))
        short = sizes <= _MAX_SHORT_LIST
        room = 4 * int(sizes[short].sum()) + sum(map(len, self.keys))
        buckets = min(1 << (room // _BLOCK_BYTES).bit_length(), _HALF)
        hashes = np.fromiter(_hashes(self.keys), np.int64, len(self.keys))
        place = np.where(short, hashes & (buckets - 1), _HALF + (hashes >> 13))
        kept = np.flatnonzero(sizes)
        order = kept[np.argsort(place[kept], kind="stable")]
        # Of numbers of two bytes, numpy sorts several times as many in the same time.
        rank = np.zeros(len(self.keys), np.min_scalar_type(len(self.keys)))
        rank[order] = np.arange(order.size)
        by_key = np.argsort(rank[self.owners], kind="stable")
        slots = self.slots[by_key].astype(_TWO_BYTES).tobytes()
        frequencies = self.frequencies[by_key].astype(_TWO_BYTES).tobytes()
        ends = np.cumsum(sizes[order])
        keys = [self.keys[position] for position in order.tolist()]
        bounds = [0, *(2 * ends).tolist()]
        places = place[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1, append=-1))
        before = np.repeat((ends - sizes[order])[starts[:-1]], np.diff(starts))
        within = (ends - before).astype(_FOUR_BYTES).tobytes()
        blocks = []
        for first, last in pairwise(starts.tolist()):
            names = _END.join(keys[first:last])
            span = slice(bounds[first], bounds[last])
            parts = within[4 * first : 4 * last], names, slots[span], frequencies[span]
            blocks.append((int(places[first]), _block(last - first, *parts)))
        return buckets, blocks


def inverted(documents: Iterable[tuple[int, Mapping[str, Mapping[str, int]]]], first: int) -> Lists:
    """Turn documents, by slots that ascend and lie within `SPAN` of `first`, into posting lists."""
    numbers = count()
    numbers_of: dict[str, defaultdict[str, int]] = {}
    owners: list[int] = []
    relative: list[int] = []
    counts: list[int] = []
    frequencies: list[int] = []
    for slot, fields in documents:
        for field, terms in fields.items():
            if field not in numbers_of:
                # A new term gets the next number: keys are numbered in order of appearance.
                numbers_of[field] = defaultdict(numbers.__next__)
            owners += map(numbers_of[field].__getitem__, terms)
            relative.append(slot - first)
            counts.append(len(terms))
            frequencies += terms.values()
    return Lists(
        _keys(numbers_of),
        np.array(owners, np.int64),
        np.repeat(np.array(relative, np.int64), np.array(counts, np.int64)),
        np.minimum(np.array(frequencies, np.int64), MAX_FREQUENCY),
    )


def _keys(numbers_of: Mapping[str, Mapping[str, int]]) -> list[Key]:
    """Return the keys of all terms of all fields, in the order of their numbers."""
    keys = [b""] * sum(map(len, numbers_of.values()))
    for field, numbers in numbers_of.items():
        beginning = key_of(field, "")
        for term, number in numbers.items():
            keys[number] = beginning + term.encode()
    return keys


def merged(parts: Iterable[tuple[int, bytes]], first: int, dropped: npt.NDArray[np.bool_]) -> Lists:
    """Join the lists of neighbouring segments, by the first slot of each, without slots that are gone."""
    parts = list(parts)
    names, lengths, slots, frequencies, sizes = _opened([block for _, block in parts])
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    owners = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
    every_slot = slots.astype(np.int64) + np.repeat(
        np.array([start - first for start, _ in parts], np.int64), sizes
    )
    lists = Lists(list(numbers), np.repeat(owners, lengths), every_slot, frequencies.astype(np.int64))
    if not dropped.any():
        return lists
    kept = ~dropped[every_slot]
    return Lists(lists.keys, lists.owners[kept], every_slot[kept], lists.frequencies[kept])


def amended(block: bytes | None, changes: Mapping[Key, Mapping[int, int]]) -> bytes | None:
    """Return a block with some postings changed (0 takes one out), or None when none are left.

    >>> tea = key_of("tags", "tea")
    >>> block = amended(None, {tea: {3: 1, 9: 2}})
    >>> term_lists(block, "tea")
    {'tags': (array([3, 9], dtype=uint16), array([1, 2], dtype=uint16))}
    >>> amended(block, {tea: {3: 0, 9: 0}}) is None
    True
    """
    lists: dict[Key, dict[int, int]] = {}
    if block is not None:
        keys, lengths, slots, frequencies = opened(block)
        ends = np.cumsum(lengths)[:-1]
        for key, at, times in zip(keys, np.split(slots, ends), np.split(frequencies, ends), strict=True):
            lists[key] = dict(zip(at.tolist(), times.tolist(), strict=True))
    for key, changed in changes.items():
        merged_list = {**lists.get(key, {}), **changed}
        lists[key] = {slot: min(times, MAX_FREQUENCY) for slot, times in sorted(merged_list.items()) if times}
    kept = {key: postings for key, postings in lists.items() if postings}
    if not kept:
        return None
    names = _END.join(kept)
    ends = np.cumsum([len(postings) for postings in kept.values()])
    every = [posting for postings in kept.values() for posting in postings.items()]
    slots, frequencies = np.array(every, _TWO_BYTES).T
    return _block(
        len(kept), ends.astype(_FOUR_BYTES).tobytes(), names, slots.tobytes(), frequencies.tobytes()
    )


def _block(count: int, ends: bytes, names: bytes, slots: bytes, frequencies: bytes) -> bytes:
    body = b"".join((_COUNTS.pack(count, len(names)), ends, names, slots, frequencies))
    return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


def checked(block: bytes) -> Checked:
    """Return a sound block with the offsets in its head, or raise :class:`IndexCorrupt`."""
    if len(block) < _HEAD.size + _COUNTS.size:
        raise IndexCorrupt("a block of posting lists is cut short")
    version, checksum = _HEAD.unpack_from(block)
    if version != _VERSION:
        raise IndexCorrupt(f"a block of posting lists has the unknown version {version}")
    if zlib.crc32(memoryview(block)[_HEAD.size :]) != checksum:
        raise IndexCorrupt("a block of posting lists does not match its checksum")
    count, length = _COUNTS.unpack_from(block, _HEAD.size)
    names = _HEAD.size + _COUNTS.size + 4 * count
    lists = names + length
    if not count or lists > len(block) or (len(block) - lists) % 4:
        raise IndexCorrupt(_BAD_CONTENTS)
    return block, count, names, lists


_BAD_CONTENTS: Final = "a block of posting lists does not hold what it says, though its checksum is right"


def opened(block: bytes) -> Block:
    """Return the contents of a block, or raise :class:`IndexCorrupt`."""
    return _opened([block])[:4]


def term_lists(block: bytes, term: str) -> dict[str, tuple[Slots, Frequencies]]:
    """Return the lists of a term that are in this block, by field.

    >>> _, ((_, block),) = inverted([(3, {"tags": {"tea": 1}}), (9, {"tags": {"tea": 2}})], 0).blocks()
    >>> term_lists(block, "tea")
    {'tags': (array([3, 9], dtype=uint16), array([1, 2], dtype=uint16))}
    >>> term_lists(block, "milk")
    {}
    """
    return checked_term_lists(checked(block), term)


def checked_term_lists(sound: Checked, term: str) -> dict[str, tuple[Slots, Frequencies]]:
    """Return the lists of a term as :func:`term_lists` does, from a checked block."""
    block, count, names, lists = sound
    # Cutting the names apart would take longer than looking for one in all of them.
    needle = _BETWEEN + term.encode()
    result = {}
    at = block.find(needle, names, lists)
    while at >= 0:
        after = at + len(needle)
        # Otherwise it is only the beginning of a longer term.
        if after == lists or block.startswith(_END, after):
            begins = max(names, block.rfind(_END, names, at) + 1)
            position = block.count(_END, names, begins)
            if position >= count:
                raise IndexCorrupt(_BAD_CONTENTS)
            # Before the first end stands how long the names are; the first list begins at 0.
            start, end = _ENDS.unpack_from(block, names - 4 * (count - position + 1))
            first, size = lists + 2 * (start if position else 0), end - (start if position else 0)
            try:
                result[block[begins:at].decode()] = (
                    np.frombuffer(block, _TWO_BYTES, size, first),
                    np.frombuffer(block, _TWO_BYTES, size, first + (len(block) - lists) // 2),
                )
            except ValueError as error:
                raise IndexCorrupt(_BAD_CONTENTS) from error
        at = block.find(needle, after, lists)
    return result


def _opened(blocks: Sequence[bytes]) -> tuple[*Block, list[int]]:
    """Return what blocks hold, one after the other, and how many postings each has.

    They are only cut by themselves: numpy takes longer to begin with a block than to read it.
    """
    ends, names, slots, frequencies = [], [], [], []
    counts, sizes = [], []
    for block in blocks:
        _, keys, of_names, of_lists = checked(block)
        postings = (len(block) - of_lists) // 4
        ends.append(block[of_names - 4 * keys : of_names])
        names.append(block[of_names:of_lists])
        slots.append(block[of_lists : of_lists + 2 * postings])
        frequencies.append(block[of_lists + 2 * postings :])
        counts.append(keys)
        sizes.append(postings)
    end = np.frombuffer(b"".join(ends), _FOUR_BYTES)
    # A list begins where the one before it ends; the first of a block at its beginning.
    begin = np.zeros_like(end)
    begin[1:] = end[:-1]
    begin[np.cumsum(counts, dtype=np.intp)[:-1]] = 0
    keys_of_all = _END.join(names).split(_END) if names else []
    if len(keys_of_all) != len(end) or (begin > end).any() or (end - begin).sum(dtype=np.int64) != sum(sizes):
        raise IndexCorrupt(_BAD_CONTENTS)
    return (
        keys_of_all,
        end - begin,
        np.frombuffer(b"".join(slots), _TWO_BYTES),
        np.frombuffer(b"".join(frequencies), _TWO_BYTES),
        sizes,
    )


def _hashes(keys: Sequence[Key]) -> Iterator[int]:
    """Return the hash of each key: the checksum of its term."""
    # In two steps: a call of ours for every key of a segment would take longer than its checksum.
    return map(zlib.crc32, [key.partition(_BETWEEN)[2] for key in keys])
