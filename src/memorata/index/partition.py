"""The partition of a namespace in memory: records, lengths, vectors, and the terms of the newest memories.

It is derived from the database and can be dropped; `change` is the last change it includes. A partition never
reads by itself: its callers pass functions that do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.bounded_cache import BoundedCache, bytes_of
from memorata.index.codes import Floats, Owners
from memorata.index.lexical import NEIGHBOUR_COLUMNS, Mask, Neighbours, Saturated, TermList
from memorata.index.postings import MAX_FREQUENCY, SegmentLists
from memorata.index.record import FIELDS, GONE, RECORD, Growing, Records, replaced, visible
from memorata.index.speakers import Speakers
from memorata.index.token_rows import TokenRows
from memorata.index.vectors import Vectors
from memorata.model.memory import Memory, Source
from memorata.rank.bm25 import BM25

Segment: TypeAlias = tuple[int, SegmentLists]
"""The first slot of a segment, and its posting lists."""
_Scored: TypeAlias = tuple[str, str, float, float]
"""A field, a term, and the k1 and b of BM25."""

_MAX_LIST_BYTES: Final = 64 * 1024 * 1024
"""Most bytes of cached posting lists, of their saturations, and of masks of filters."""
_MAX_ABSENT_BYTES: Final = 1024 * 1024
"""Most bytes of cached terms without postings, of which queries bring new ones without end."""
_ENTRY_BYTES: Final = 200
_POSTING: Final = Struct("=ii")
"""A slot of the tail, and the frequency of a term in it."""
_SLOT_BYTES: Final = 20
_MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
"""Most bytes of cached memories; then the cache is cleared."""
_MEMORY_BYTES: Final = 1_300
"""Bytes of a memory beside its content, tags, entities and metadata: 1,244 to 1,278 as `bytes_of` counts."""
_NUMBER_OF: Final = {field: number for number, field in enumerate(FIELDS)}
_NO_SLOTS: Final = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))
_NOT_VISIBLE: Final = Saturated(np.zeros(0, np.intp), np.zeros(0, np.uint16), np.zeros(0))


@frozen(eq=False)
class Visibility:
    """Which memories are visible at an instant, and their statistics.

    Attributes
    ----------
    mask
        The mask of visible slots; None when all are.
    count
        The number of visible memories.
    average_lengths
        By field, the mean length over the visible memories that have it; 0 if none has.
    since, until
        The instants between which this holds while nothing is written: memories expire.
    former
        Whether memories that a newer one ended are visible; None when there are none.
    """

    mask: Mask | None
    count: int
    average_lengths: Mapping[str, float]
    since: float
    until: float
    former: bool | None = None

    def serves(self, now: float, former: bool) -> bool:
        """Return whether it is that of the present at `now`, with or without superseded memories."""
        return self.former in (None, former) and self.since <= now < self.until


class Partition:
    """One namespace in memory.

    Parameters
    ----------
    dimension
        The dimension of the store's current embedder; 0 without one.
    exact
        Whether its vectors are few enough for float32 rows in memory.
    """

    def __init__(self, dimension: int, *, exact: bool) -> None:
        self.change = 0
        self.generation = 0
        self.flushed = 0
        self.vectors = Vectors(dimension, exact=exact)
        self._records = Growing(RECORD, ())
        self._lengths = [Growing(np.float32, ()) for _ in FIELDS]
        self._segments: Sequence[Segment] | None = None
        self._segment_of: dict[int, Segment] = {}
        self._reworded: list[int] = []
        self._names: dict[int, str] = {}
        self._renamed: set[int] = set()
        self.named = 0
        # Bytes, which the garbage collector does not traverse: a server has the tails of many namespaces.
        self._tail: dict[str, dict[str, bytes]] = {}
        self._lists: BoundedCache[tuple[str, str], TermList] = BoundedCache(_MAX_LIST_BYTES)
        self._absent: BoundedCache[tuple[str, str], TermList] = BoundedCache(_MAX_ABSENT_BYTES)
        self._saturated: BoundedCache[_Scored, Saturated] = BoundedCache(_MAX_LIST_BYTES)
        self._not_visible: BoundedCache[_Scored, Saturated] = BoundedCache(_MAX_ABSENT_BYTES)
        self._passing: BoundedCache[Hashable, Mask] = BoundedCache(_MAX_LIST_BYTES)
        self._sized = -1, 0
        self._visibility: Visibility | None = None
        self._totals: list[tuple[float, int]] = []
        self._pending: int | None = None
        self._neighbours = Neighbours()
        self._speakers, self.spoken = Speakers(), 0
        self._columns = np.full(1, -1, np.int32)
        self._token_rows: dict[str, TokenRows] = {}
        self._memories: dict[int, Memory] = {}
        self._memory_bytes = 0

    def __len__(self) -> int:
        return len(self._records.view)

    @property
    def records(self) -> Records:
        """The records of all slots."""
        return self._records.view

    @property
    def nbytes(self) -> int:
        """About how many bytes this takes."""
        # Called for every view, when mostly nothing but the caches has changed.
        if self._sized[0] != self.change:
            lengths = sum(part.nbytes for part in self._lengths)
            tail = _ENTRY_BYTES * sum(map(len, self._tail.values()))
            lists = sum(lists.nbytes for _, lists in self._segment_of.values())
            beside = len(self) * _SLOT_BYTES + lists + _ENTRY_BYTES * len(self._names)
            self._sized = self.change, self._records.nbytes + lengths + self.vectors.nbytes + tail + beside
        caches = self._lists, self._absent, self._saturated, self._not_visible, self._passing
        rows = sum(rows.nbytes for rows in self._token_rows.values())
        return self._sized[1] + sum(cache.nbytes for cache in caches) + self._memory_bytes + rows

    @property
    def neighbours(self) -> Neighbours:
        """The neighbours of slots in their sessions; linked on first use."""
        self._neighbours.grow(self.records)
        return self._neighbours

    @property
    def columns(self) -> npt.NDArray[np.int32]:
        """An array over all slots and one more, filled with -1; a caller that writes to it restores that."""
        if self._columns.size != len(self) + 1:
            self._columns = np.full(len(self) + 1, -1, np.int32)
        return self._columns

    def token_rows(self, table: str) -> TokenRows:
        """Return the cached tokens of memories in a table."""
        rows = self._token_rows.get(table)
        if rows is None:
            rows = self._token_rows[table] = TokenRows()
        return rows

    def memories(
        self, slots: list[int], read: Callable[[list[int]], Mapping[int, Memory]], *, together: bool = False
    ) -> list[Memory]:
        """Return the memories of slots; `read` is called for uncached ones, or `together` for all."""
        cached = self._memories
        unread = [slot for slot in slots if slot not in cached]
        if not unread:
            return [cached[slot] for slot in slots]
        unread = slots if together else unread
        memories = {slot: cached[slot] for slot in slots if slot in cached}
        for slot, memory in read(unread).items():
            memories[slot] = memory
            if memory.metadata and any(type(value) in (dict, list) for value in memory.metadata.values()):
                # The caller may change these values.
                continue
            if self._memory_bytes > _MAX_MEMORY_BYTES:
                self.forget_memories()
            if slot not in self._memories:
                self._memory_bytes += _MEMORY_BYTES + bytes_of(
                    (memory.content, memory.tags, memory.entities, memory.metadata)
                )
            self._memories[slot] = memory
        return [memories[slot] for slot in slots]

    def forget_memories(self) -> None:
        """Drop the cached memories: some were changed."""
        self._memories, self._memory_bytes = {}, 0

    def lengths(self, field: str) -> npt.NDArray[np.float32]:
        """Return the number of terms each slot has in `field`."""
        view: npt.NDArray[np.float32] = self._lengths[_NUMBER_OF[field]].view
        return view

    def reserve(self, count: int) -> None:
        """Make room for the records of `count` slots in all."""
        for part in (self._records, *self._lengths):
            part.reserve(count)

    def append(self, records: Records) -> None:
        """Add the records of the next slots."""
        self._records.extend(records)
        for number, part in enumerate(self._lengths):
            part.extend(records["lengths"][:, number])
        pending = self._pending
        self._reset_visibility(self._extended_visibility(records))
        if pending is not None:
            self._pending = pending + int(np.count_nonzero(records["state"] != GONE))

    def replace(self, slot: int, record: Records) -> None:
        """Put a changed record in its slot."""
        if any(self._records.view[slot][name] != record[0][name] for name in NEIGHBOUR_COLUMNS):
            self._neighbours = Neighbours()
        self._records.view[slot] = record[0]
        if slot < self.named:
            self._renamed.add(slot)
        for rows in self._token_rows.values():
            rows.forget(slot)
        # A filter may give another result for it now.
        self._passing.clear()
        for number, part in enumerate(self._lengths):
            if part.view[slot] != record["lengths"][0, number]:
                # An explanation may still refer to the array, which is therefore not overwritten.
                part = self._lengths[number] = part.copy()
                part.view[slot] = record["lengths"][0, number]
        self._reset_visibility()

    def remember_tail(self, slot: int, fields: Mapping[str, Mapping[str, int]]) -> None:
        """Add the terms of a memory that is in no segment yet; slots are passed in order."""
        once = _POSTING.pack(slot, 1)
        for field, terms in fields.items():
            listed = self._tail.setdefault(field, {})
            for term, frequency in terms.items():
                posting = once if frequency == 1 else _POSTING.pack(slot, min(frequency, MAX_FREQUENCY))
                listed[term] = listed.get(term, b"") + posting

    def remember_rewording(self, slot: int, fields: Mapping[str, Mapping[str, int]]) -> None:
        """Add the terms of a memory that a segment lists under former ones, in order and before the tail."""
        self._reworded.append(slot)
        self.remember_tail(slot, fields)

    def start_generation(self, generation: int, flushed: int) -> None:
        """Drop lists and tail: segments were merged or added, or memories reworded."""
        self.generation, self.flushed = generation, flushed
        self._segments = None
        self._reworded = []
        self._tail.clear()
        self._lists.clear()
        self._absent.clear()
        self._reset_visibility()

    @property
    def last_segment(self) -> int:
        """The highest number of a segment that was read; 0 for none."""
        return max(self._segment_of, default=0)

    def segments(self, read: Callable[[int], Iterable[tuple[int, int, bytes | None]]]) -> Sequence[Segment]:
        """Return the segments of this generation, which are read on first use.

        A segment never changes: `read` returns the number and first slot of each, and the value of the lists
        of those with a number above its argument.
        """
        if self._segments is None:
            known = self._segment_of
            self._segment_of = {
                number: known[number] if value is None else (first, SegmentLists.decoded(value))
                for number, first, value in read(self.last_segment)
            }
            self._segments, self._sized = [*self._segment_of.values()], (-1, 0)
        return self._segments

    @property
    def reworded(self) -> Sequence[int]:
        """The slots, ascending, that segments list under former words."""
        return self._reworded

    def cached_list(self, field: str, term: str) -> TermList | None:
        """Return the posting list of a term in the segments, if it is cached."""
        listed = self._lists.get((field, term))
        return self._absent.get((field, term)) if listed is None else listed

    def cache_list(self, field: str, term: str, listed: TermList) -> None:
        """Cache the posting list of a term; the least recently used are evicted above the bound."""
        if listed.slots.size:
            self._lists.put((field, term), listed)
        else:
            self._absent.put((field, term), _NO_SLOTS, shared=True)

    def cached_saturated(
        self, visibility: Visibility, keys: Iterable[tuple[str, str]], scorer: BM25
    ) -> dict[tuple[str, str], Saturated | None]:
        """Return the saturated lists of fields and terms over the memories visible at present, if cached."""
        if visibility is not self._visibility:
            return dict.fromkeys(keys)
        k1, b, get, get_empty = scorer.k1, scorer.b, self._saturated.get, self._not_visible.get
        found = {(field, term): (field, term, k1, b) for field, term in keys}
        return {key: get(scored) or get_empty(scored) for key, scored in found.items()}

    def cache_saturated(
        self, visibility: Visibility, field: str, term: str, scorer: BM25, listed: Saturated
    ) -> None:
        """Cache the saturated list of a term over the memories visible at present."""
        if visibility is self._visibility:
            key = field, term, scorer.k1, scorer.b
            if listed.slots.size:
                self._saturated.put(key, listed)
            else:
                self._not_visible.put(key, _NOT_VISIBLE, shared=True)

    def passing(self, filter: Hashable, read: Callable[[int], list[int]]) -> Mask:
        """Return the read-only mask of slots that pass a filter.

        It is cached until a memory changes; `read` gets the first slot that was added since.
        """
        mask = self._passing.get(filter)
        if mask is None or mask.size < len(self):
            start = 0 if mask is None else mask.size
            grown = np.zeros(len(self), np.bool_)
            if mask is not None:
                grown[:start] = mask
            grown[read(start)] = True
            grown.flags.writeable = False
            self._passing.put(filter, grown)
            mask = grown
        return mask

    def names(self, slots: Sequence[int], read: Callable[[int, list[int]], Mapping[int, str]]) -> list[str]:
        """Return the names that memories mention, as encoded in their rows; empty for none.

        The names of all memories are cached. `read` is called with the first slot without, and with slots
        before it that have changed.
        """
        if self.named < len(self) or not self._renamed.isdisjoint(slots):
            listed = read(self.named, sorted(self._renamed))
            for slot in self._renamed:
                self._names.pop(slot, None)
            self._names.update(listed)
            self._renamed.clear()
            self.named, self._sized = len(self), (-1, 0)
        return [self._names.get(slot, "") for slot in slots]

    def add_names(self, first: int, names: Sequence[str]) -> None:
        """Cache the names of added memories, where those of all others are cached."""
        if 0 < first == self.named:
            self._names.update({slot: listed for slot, listed in enumerate(names, first) if listed != "[]"})
            self.named = first + len(names)

    def speakers(self, read: Callable[[int], Iterable[tuple[str, str]]]) -> Speakers:
        """Return the speakers of the namespace; `read` returns sessions and speakers from a slot on."""
        if self.spoken < len(self):
            self._speakers.add(read(self.spoken))
            self.spoken = len(self)
        return self._speakers

    def add_speakers(self, first: int, sources: Sequence[Source]) -> None:
        """Cache the speakers of added memories, where those of all others are cached."""
        if 0 < first == self.spoken:
            self._speakers.add((source.session, source.speaker) for source in sources if source.speaker)
            self.spoken = first + len(sources)

    def tail_list(self, field: str, term: str) -> TermList:
        """Return the posting list of a term over the memories in no segment yet."""
        packed = self._tail.get(field, {}).get(term)
        if packed is None:
            return _NO_SLOTS
        postings = np.frombuffer(packed, np.int32).reshape(-1, 2)
        return TermList(postings[:, 0].copy(), postings[:, 1].astype(np.uint16))

    def pending(self) -> int:
        """Return the number of memories without a vector."""
        if self._pending is None:
            waiting = self.records["state"] != GONE
            waiting[self.vectors.owners.view] = False
            self._pending = int(np.count_nonzero(waiting))
        return self._pending

    def add_vectors(self, owners: Owners, rows: Floats) -> None:
        """Add the vectors of the next memories."""
        if self._pending is not None:
            before = np.empty_like(owners)
            before[:1] = self.vectors.owners.view[-1] if len(self.vectors) else -1
            before[1:] = owners[:-1]
            new = owners[owners != before]
            self._pending -= int(np.count_nonzero(self.records["state"][new] != GONE))
        self.vectors.add(owners, rows)

    def visibility(
        self,
        now: float,
        as_of: float | None,
        true_at: float | None = None,
        ends: Mapping[int, float] | None = None,
        *,
        former: bool = False,
    ) -> Visibility:
        """Return the visibility at an instant; that of the present is cached until a change or an expiry.

        `ends` are, by slot, the ends of validity as of `as_of`, where they differ from the present ones.
        With `former`, what a newer memory ended is visible.
        """
        cached = self._visibility
        present = as_of is None and true_at is None
        if present and cached is not None and cached.serves(now, former):
            return cached
        records = self.records
        ends_as_of = None
        if ends:
            ends_as_of = records["until"].copy()
            ends_as_of[list(ends)] = list(ends.values())
        mask = visible(records, now, as_of=as_of, true_at=true_at, until=ends_as_of, former=former)
        everything = bool(mask.all())
        totals = [_total(part.view if everything else part.view[mask]) for part in self._lengths]
        expiries = records["expires"]
        since = float(expiries.max(initial=-math.inf, where=expiries <= now))
        until = float(expiries.min(initial=math.inf, where=expiries > now))
        count = int(np.count_nonzero(mask))
        has_former = former if replaced(records).any() else None
        shown = None if everything else mask
        visibility = Visibility(shown, count, _averages(totals), since, until, has_former)
        if present:
            pending = self._pending
            self._reset_visibility(visibility)
            self._totals, self._pending = totals, pending
        return visibility

    def _extended_visibility(self, records: Records) -> Visibility | None:
        """Return the visibility at present with new records, in time proportional to their number.

        None if none is cached, or if some records will expire: then it is computed again. Lengths are whole
        numbers, so their sums are exact in any order.
        """
        cached = self._visibility
        if cached is None or (records["expires"] < math.inf).any() or replaced(records).any():
            return None
        new = visible(records, cached.since)
        lengths = records["lengths"][new].astype(np.float32)
        more = zip(
            lengths.sum(axis=0, dtype=np.float64).tolist(), (lengths > 0).sum(axis=0).tolist(), strict=True
        )
        self._totals = [
            (total + length, having + also)
            for (total, having), (length, also) in zip(self._totals, more, strict=True)
        ]
        mask = cached.mask
        if mask is not None or not new.all():
            before = np.ones(len(self) - new.size, np.bool_) if mask is None else mask
            mask = np.concatenate([before, new])
        count = cached.count + int(np.count_nonzero(new))
        return Visibility(mask, count, _averages(self._totals), cached.since, cached.until, cached.former)

    def _reset_visibility(self, visibility: Visibility | None = None) -> None:
        """Set the visibility and drop everything derived from the former one."""
        self._pending = None
        self._visibility = visibility
        self._saturated.clear()
        self._not_visible.clear()


def _total(lengths: npt.NDArray[np.float32]) -> tuple[float, int]:
    """Return the sum of lengths, and the number of those above 0."""
    return float(lengths.sum(dtype=np.float64)), int(np.count_nonzero(lengths))


def _averages(totals: Sequence[tuple[float, int]]) -> dict[str, float]:
    return {
        field: total / having if having else 0.0
        for field, (total, having) in zip(FIELDS, totals, strict=True)
    }
