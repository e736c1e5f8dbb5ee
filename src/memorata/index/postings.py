"""Posting lists of a segment as one value: which slots have a term, and how often.

A segment is written once and never changed, so its lists are arrays, one after the other, in the order of the
hashes of their terms: a search finds all terms of a query in a segment by one bisection, and what a term has
in all fields lies together. A segment spans at most 65,536 slots, so a slot is two bytes relative to the
segment's first, and a frequency two more. The value carries a version and a checksum: what does not check is
rebuilt, never trusted.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
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

_VERSION: Final = 4
_HEAD: Final = Struct("<BxxxI")
_COUNTS: Final = Struct("<III")
"""The number of keys, the bytes of their names, the number of postings."""
_START: Final = _HEAD.size + _COUNTS.size
_TWO_BYTES: Final = np.dtype("<u2")
_FOUR_BYTES: Final = np.dtype("<u4")
# UTF-8 has neither of these bytes, so no field and no term can hold one.
_BETWEEN: Final = b"\xfe"
_END: Final = b"\xff"

Key: TypeAlias = bytes
"""A field and a term, as :func:`key_of` joins them."""
Slots = npt.NDArray[np.uint16]
Frequencies = npt.NDArray[np.uint16]
_Hashes = npt.NDArray[np.uint32]


def key_of(field: str, term: str) -> Key:
    """Return the key of a term in a field; :func:`parts_of` takes it apart."""
    return field.encode() + _BETWEEN + term.encode()


def parts_of(key: Key) -> tuple[str, str]:
    """Return the field and the term of a key."""
    field, _, term = key.partition(_BETWEEN)
    try:
        return field.decode(), term.decode()
    except UnicodeDecodeError as error:
        raise IndexCorrupt(_BAD_CONTENTS) from error


def term_hashes(terms: Sequence[str]) -> _Hashes:
    """Return the hash by which each term is found."""
    return np.fromiter(map(zlib.crc32, map(str.encode, terms)), np.uint32, len(terms))


@frozen(eq=False)
class Lists:
    """Posting lists that belong together, not yet in order; a key may have no postings left.

    A posting has the position of its key (`owners`), its relative slot, ascending in a key, and how often.
    """

    keys: Sequence[Key]
    owners: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    frequencies: npt.NDArray[np.int64]

    def encoded(self) -> bytes:
        r"""Return the value of a segment with these lists.

        >>> tea = Lists([key_of("tags", "tea")], *np.array([[0, 0], [3, 9], [1, 2]]))
        >>> list(SegmentLists.decoded(tea.encoded()).found(term_hashes(["tea", "milk"])))
        [(b'tags\xfetea', array([3, 9], dtype=uint16), array([1, 2], dtype=uint16))]
        """
        sizes = np.bincount(self.owners, minlength=len(self.keys))
        terms = [key.partition(_BETWEEN)[2] for key in self.keys]
        hashes = np.fromiter(map(zlib.crc32, terms), np.uint32, len(self.keys))
        kept = np.flatnonzero(sizes)
        order = kept[np.argsort(hashes[kept], kind="stable")]
        # Of numbers of two bytes, numpy sorts several times as many in the same time.
        rank = np.zeros(len(self.keys), np.min_scalar_type(len(self.keys)))
        rank[order] = np.arange(order.size)
        by_key = np.argsort(rank[self.owners], kind="stable")
        keys = [self.keys[position] for position in order.tolist()]
        names = _END.join(keys)
        body = b"".join(
            (
                _COUNTS.pack(len(keys), len(names), len(by_key)),
                hashes[order].astype(_FOUR_BYTES).tobytes(),
                np.cumsum([len(key) + 1 for key in keys], dtype=_FOUR_BYTES).tobytes(),
                np.cumsum(sizes[order], dtype=_FOUR_BYTES).tobytes(),
                self.slots[by_key].astype(_TWO_BYTES).tobytes(),
                self.frequencies[by_key].astype(_TWO_BYTES).tobytes(),
                names,
            )
        )
        return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


@frozen(eq=False)
class SegmentLists:
    """The posting lists of a segment, as its value has them.

    - `hashes`: of the term of each key, ascending.
    - `names`: the keys, joined; `name_ends`: where each one's successor begins.
    - `ends`: where the list of each key ends in `slots` and `frequencies`.
    """

    hashes: _Hashes
    names: bytes
    name_ends: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    slots: Slots
    frequencies: Frequencies
    nbytes: int

    @classmethod
    def decoded(cls, value: bytes) -> SegmentLists:
        """Return the lists of a value, or raise :class:`IndexCorrupt`."""
        if type(value) is not bytes or len(value) < _START:
            raise IndexCorrupt("the posting lists of a segment are cut short")
        version, checksum = _HEAD.unpack_from(value)
        if version != _VERSION:
            raise IndexCorrupt(f"the posting lists of a segment have the unknown version {version}")
        if zlib.crc32(memoryview(value)[_HEAD.size :]) != checksum:
            raise IndexCorrupt("the posting lists of a segment do not match their checksum")
        keys, length, postings = _COUNTS.unpack_from(value, _HEAD.size)
        at, arrays = _START, list[npt.NDArray[np.unsignedinteger]]()
        if len(value) != at + 12 * keys + 4 * postings + length:
            raise IndexCorrupt(_BAD_CONTENTS)
        for kind, size in ((_FOUR_BYTES, keys),) * 3 + ((_TWO_BYTES, postings),) * 2:
            arrays.append(np.frombuffer(value, kind, size, at))
            at += kind.itemsize * size
        hashes, name_ends, ends, slots, frequencies = arrays
        names = value[at:]
        rising = all(bool((array[1:] > array[:-1]).all()) for array in (name_ends, ends))
        last = (int(name_ends[-1]), int(ends[-1])) if keys else (1, 0)
        if not rising or last != (length + 1, postings) or (hashes[1:] < hashes[:-1]).any():
            raise IndexCorrupt(_BAD_CONTENTS)
        between = np.frombuffer(names, np.uint8)[name_ends[:-1] - 1]
        if names.count(_END) != between.size or (between != _END[0]).any() or (keys and not ends[0]):
            raise IndexCorrupt(_BAD_CONTENTS)
        return cls(hashes, names, name_ends, ends, slots, frequencies, len(value))

    def __len__(self) -> int:
        return self.hashes.size

    def key(self, position: int) -> Key:
        """Return the key at a position."""
        start = int(self.name_ends[position - 1]) if position else 0
        return self.names[start : int(self.name_ends[position]) - 1]

    def keys(self) -> list[Key]:
        """Return all keys, in their order."""
        return self.names.split(_END) if len(self) else []

    def postings(self, position: int) -> tuple[Slots, Frequencies]:
        """Return the list of the key at a position."""
        own = slice(int(self.ends[position - 1]) if position else 0, int(self.ends[position]))
        return self.slots[own], self.frequencies[own]

    def found(self, hashes: _Hashes) -> Iterator[tuple[Key, Slots, Frequencies]]:
        """Yield every key whose term has one of some hashes, and its list."""
        first = self.hashes.searchsorted(hashes).tolist()
        end = self.hashes.searchsorted(hashes, "right").tolist()
        for low, high in zip(first, end, strict=True):
            for position in range(low, high):
                yield self.key(position), *self.postings(position)


_BAD_CONTENTS: Final = "the posting lists of a segment are not as they say, though their checksum is right"


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


def merged(
    parts: Sequence[tuple[int, SegmentLists]],
    first: int,
    dropped: npt.NDArray[np.bool_],
    added: Lists | None = None,
) -> Lists:
    """Join the lists of neighbouring segments, by the first slot of each, without some slots.

    `added`: the lists of some of these slots as they are now, relative to `first` as the result is.
    """
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    owners, slots, frequencies = [], [], []
    for start, lists in parts:
        of_keys = np.fromiter(map(numbers.__getitem__, lists.keys()), np.int64, len(lists))
        owners.append(of_keys.repeat(np.diff(lists.ends, prepend=0)))
        slots.append(lists.slots.astype(np.int64) + (start - first))
        frequencies.append(lists.frequencies.astype(np.int64))
    if not parts:
        owners, slots, frequencies = [[np.zeros(0, np.int64)] for _ in range(3)]
    joined = [np.concatenate(arrays) for arrays in (owners, slots, frequencies)]
    if dropped.any():
        kept = ~dropped[joined[1]]
        joined = [array[kept] for array in joined]
    if added is not None:
        of_keys = np.fromiter(map(numbers.__getitem__, added.keys), np.int64, len(added.keys))
        more = of_keys[added.owners], added.slots, added.frequencies
        joined = [np.concatenate(pair) for pair in zip(joined, more, strict=True)]
        order = np.argsort(joined[1], kind="stable")
        joined = [array[order] for array in joined]
    return Lists(list(numbers), *joined)
