"""What a process keeps of one namespace: records, lengths, vectors, and the words of the newest memories.

All of it comes from the database and can be thrown away; `change` says up to which change it is true. A
partition never reads: the store feeds it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from struct import Struct
from typing import Final, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.codes import Floats, Owners
from memorata.index.index import Speakers
from memorata.index.lexical import NEIGHBOUR_COLUMNS, Mask, Neighbours, Saturated, TermList
from memorata.index.postings import MAX_FREQUENCY, Checked
from memorata.index.record import FIELDS, GONE, RECORD, Growing, Records, visible
from memorata.index.token_rows import TokenRows
from memorata.index.vectors import Vectors
from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory, Source
from memorata.rank.bm25 import BM25

Segment: TypeAlias = tuple[int, int, int]
"""The number of a segment, its first slot and how many buckets it has."""
Blocks: TypeAlias = Mapping[tuple[int, int], Checked]
"""Blocks of posting lists by segment and place."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_CACHED_LIST_BYTES: Final = 64 * 1024 * 1024
"""How many bytes of lists may be kept, and as many again of what their postings are worth."""
_ENTRY_BYTES: Final = 200
"""About what a term costs in a table, besides its list; terms that nobody said are kept there too."""
_POSTING: Final = Struct("=ii")
"""A slot of the tail, and how often it has a term."""
_SLOT_BYTES: Final = 20
"""What the neighbours and the columns take for each slot, once somebody asked for them."""
_MIN_READS: Final = 8
"""So often the lists of a query are read by themselves before all of a small namespace are kept."""
_MAX_PATIENCE: Final = 1_024
_MAX_BUCKETS: Final = 4_096
"""In how many buckets the lists are that are kept; each is about a kilobyte."""
_MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
"""How many bytes of memories are kept; then they are read anew."""
_MEMORY_BYTES: Final = 1_000
"""About what a memory takes besides its text."""
_NUMBER_OF: Final = {field: number for number, field in enumerate(FIELDS)}
_NO_SLOTS: Final = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))


@frozen(eq=False)
class Visibility:
    """Which memories may be seen at an instant, and the statistics of those.

    Attributes
    ----------
    mask
        Which slots may be seen; None when all of them may.
    count
        How many may be seen.
    average_lengths
        By field, the mean length over the seen memories that have the field; 0 if none has.
    since, until
        The instants between which this is true while nothing is written: memories expire.
    """

    mask: Mask | None
    count: int
    average_lengths: Mapping[str, float]
    since: float
    until: float


class Partition:
    """One namespace in memory.

    Parameters
    ----------
    dimension
        The dimension of the store's current embedder; 0 without one.
    exact
        Whether its vectors are few enough to keep in full.
    """

    def __init__(self, dimension: int, *, exact: bool) -> None:
        self.change = 0
        self.generation = 0
        self.flushed = 0
        self.vectors = Vectors(dimension, exact=exact)
        self._records = Growing(RECORD, ())
        self._lengths = [Growing(np.float32, ()) for _ in FIELDS]
        self._segments: Sequence[Segment] | None = None
        self._blocks: Blocks | None = None
        self._former: Blocks | None = None
        self._block_bytes = 0
        self._reads = 0
        self._patience = _MIN_READS
        self._names: dict[int, str] = {}
        self._renamed: set[int] = set()
        self.named = 0
        # Bytes, which the garbage collector does not go through: a server has the tails of many namespaces.
        self._tail: dict[str, dict[str, bytes]] = {}
        self._lists: _BoundedCache[tuple[str, str], TermList] = _BoundedCache()
        self._saturated: _BoundedCache[tuple[str, str, float, float], Saturated] = _BoundedCache()
        self._passing: _BoundedCache[Hashable, Mask] = _BoundedCache()
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
        return len(self._records)

    @property
    def records(self) -> Records:
        """The records of all slots."""
        return self._records.view

    @property
    def nbytes(self) -> int:
        """How much memory this takes, roughly."""
        # Asked at every look, when mostly nothing but what is kept of the last ones has changed.
        if self._sized[0] != self.change:
            lengths = sum(part.nbytes for part in self._lengths)
            tail = _ENTRY_BYTES * sum(map(len, self._tail.values()))
            beside = len(self) * _SLOT_BYTES + self._block_bytes + _ENTRY_BYTES * len(self._names)
            self._sized = self.change, self._records.nbytes + lengths + self.vectors.nbytes + tail + beside
        kept = (
            self._lists.nbytes
            + self._saturated.nbytes
            + self._passing.nbytes
            + self._memory_bytes
            + sum(rows.nbytes for rows in self._token_rows.values())
        )
        return self._sized[1] + kept

    @property
    def neighbours(self) -> Neighbours:
        """Who was said before and after whom; linked when first asked for."""
        self._neighbours.grow(self.records)
        return self._neighbours

    @property
    def columns(self) -> npt.NDArray[np.int32]:
        """An array over all slots and one more, all of it -1; who writes to it puts that back."""
        if self._columns.size != len(self) + 1:
            self._columns = np.full(len(self) + 1, -1, np.int32)
        return self._columns

    def token_rows(self, table: str) -> TokenRows:
        """Return what was read of the tokens that memories have in a table."""
        rows = self._token_rows.get(table)
        if rows is None:
            rows = self._token_rows[table] = TokenRows()
        return rows

    def memories(
        self, slots: list[int], read: Callable[[list[int]], Mapping[int, Memory]], *, together: bool = False
    ) -> list[Memory]:
        """Return the memories of slots; `read` is asked for those not kept, or `together` for all."""
        kept = self._memories
        unread = [slot for slot in slots if slot not in kept]
        if not unread:
            return [kept[slot] for slot in slots]
        unread = slots if together else unread
        memories = {slot: kept[slot] for slot in slots if slot in kept}
        for slot, memory in read(unread).items():
            memories[slot] = memory
            if memory.metadata and any(type(value) in (dict, list) for value in memory.metadata.values()):
                # Who gets it may write to those.
                continue
            if self._memory_bytes > _MAX_MEMORY_BYTES:
                self.forget_memories()
            if slot not in self._memories:
                self._memory_bytes += _MEMORY_BYTES + len(memory.content)
            self._memories[slot] = memory
        return [memories[slot] for slot in slots]

    def forget_memories(self) -> None:
        """Read memories anew: something was written to some of them."""
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
        waiting = self._pending
        self._reset_visibility(self._extended_visibility(records))
        if waiting is not None:
            self._pending = waiting + int(np.count_nonzero(records["state"] != GONE))

    def replace(self, slot: int, record: Records) -> None:
        """Put a changed record in its slot."""
        if any(self._records.view[slot][name] != record[0][name] for name in NEIGHBOUR_COLUMNS):
            self._neighbours = Neighbours()
        self._records.view[slot] = record[0]
        if slot < self.named:
            self._renamed.add(slot)
        for rows in self._token_rows.values():
            rows.forget(slot)
        # What a filter lets through may have changed with it.
        self._passing.clear()
        for number, part in enumerate(self._lengths):
            if part.view[slot] != record["lengths"][0, number]:
                # An explanation may still hold the lengths it was made from; those are not written over.
                part = self._lengths[number] = part.copy()
                part.view[slot] = record["lengths"][0, number]
        self._reset_visibility()

    def remember_tail(self, slot: int, fields: Mapping[str, Mapping[str, int]]) -> None:
        """Add the words of a memory that is in no segment yet; slots come in order."""
        once = _POSTING.pack(slot, 1)
        for field, terms in fields.items():
            listed = self._tail.setdefault(field, {})
            for term, frequency in terms.items():
                posting = once if frequency == 1 else _POSTING.pack(slot, min(frequency, MAX_FREQUENCY))
                listed[term] = listed.get(term, b"") + posting

    def start_generation(self, generation: int, flushed: int, *, same_blocks: bool = False) -> None:
        """Forget lists and tail: the segments were rewritten.

        With `same_blocks`, a segment that is still there by its number is as it was.
        """
        self.generation, self.flushed = generation, flushed
        self._former = (self._blocks or self._former) if same_blocks else None
        if self._former is None:
            self._block_bytes = 0
        if self._blocks is not None and not same_blocks:
            # Written to as often as it is asked: what is kept has to last longer than that.
            self._patience = min(2 * self._patience, _MAX_PATIENCE)
        self._segments = self._blocks = None
        self._reads = 0
        self._tail.clear()
        self._lists.clear()
        self._reset_visibility()

    def segments(self, read: Callable[[], Sequence[Segment]]) -> Sequence[Segment]:
        """Return the segments of this generation, which are read when first asked for."""
        if self._segments is None:
            self._segments = read()
        return self._segments

    def blocks(self, read: Callable[[Blocks], Blocks]) -> Blocks | None:
        """Return all blocks of this generation's lists; None as long as it is cheaper to read a few.

        A namespace with few words that is asked again and again, and not written to meanwhile, keeps them.
        `read` is given those of the generation before, as far as they are good.
        """
        self._reads += 1
        if (self._reads == self._patience + 1 or self._former is not None) and self._few_buckets():
            try:
                self._blocks, self._former = read(self._former or {}), None
                self._block_bytes = sum(_ENTRY_BYTES + len(block) for block, *_ in self._blocks.values())
            except IndexCorrupt:
                # A damaged one concerns those who ask for its words, and nobody else.
                return None
            self._sized = -1, 0
        return self._blocks

    def _few_buckets(self) -> bool:
        return sum(buckets for _, _, buckets in self._segments or ()) <= _MAX_BUCKETS

    def cached_list(self, field: str, term: str) -> TermList | None:
        """Return the list a term has in the segments, if it is in memory."""
        return self._lists.get((field, term))

    def cache_list(self, field: str, term: str, listed: TermList) -> None:
        """Keep the list of a term; the least recently used go when there are too many bytes."""
        self._lists.put((field, term), listed, listed.slots.nbytes + listed.frequencies.nbytes)

    def cached_saturated(
        self, visibility: Visibility, field: str, term: str, scorer: BM25
    ) -> Saturated | None:
        """Return what a term says in the memories seen at present, if it is in memory."""
        return (
            self._saturated.get((field, term, scorer.k1, scorer.b))
            if visibility is self._visibility
            else None
        )

    def cache_saturated(
        self, visibility: Visibility, field: str, term: str, scorer: BM25, listed: Saturated
    ) -> None:
        """Keep what a term says in the memories seen at present; another visibility is another matter."""
        if visibility is self._visibility:
            size = listed.slots.nbytes + listed.frequencies.nbytes + listed.saturation.nbytes
            self._saturated.put((field, term, scorer.k1, scorer.b), listed, size)

    def passing(self, filter: Hashable, read: Callable[[int], list[int]]) -> Mask:
        """Return which slots a filter lets through, not to be written to.

        The answer is kept until a memory changes; of memories that were added since, `read` is asked, given
        the first slot that is not known yet.
        """
        mask = self._passing.get(filter)
        if mask is None or mask.size < len(self):
            start = 0 if mask is None else mask.size
            grown = np.zeros(len(self), np.bool_)
            if mask is not None:
                grown[:start] = mask
            grown[read(start)] = True
            grown.flags.writeable = False
            self._passing.put(filter, grown, grown.nbytes)
            mask = grown
        return mask

    def names(self, slots: Sequence[int], read: Callable[[int, list[int]], Mapping[int, str]]) -> list[str]:
        """Return the names that memories mention, as they are listed in their rows; empty for none.

        Those of all memories are kept. `read` is asked for those from a slot on, and of some before it that
        have changed.
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
        """Keep the names that memories mention which were just added, where those of all others are kept."""
        if 0 < first == self.named:
            self._names.update({slot: listed for slot, listed in enumerate(names, first) if listed != "[]"})
            self.named = first + len(names)

    def speakers(self, read: Callable[[int], Iterable[tuple[str, str]]]) -> Speakers:
        """Return who speaks in the namespace; `read` is asked for sessions and who speaks from a slot on."""
        if self.spoken < len(self):
            self._speakers.add(read(self.spoken))
            self.spoken = len(self)
        return self._speakers

    def add_speakers(self, first: int, sources: Sequence[Source]) -> None:
        """Keep who speaks in memories that were just added, where it is known who speaks in all others."""
        if 0 < first == self.spoken:
            self._speakers.add((source.session, source.speaker) for source in sources if source.speaker)
            self.spoken = first + len(sources)

    def tail_list(self, field: str, term: str) -> TermList:
        """Return the list a term has among the memories in no segment yet."""
        packed = self._tail.get(field, {}).get(term)
        if packed is None:
            return _NO_SLOTS
        postings = np.frombuffer(packed, np.int32).reshape(-1, 2)
        return TermList(postings[:, 0].copy(), postings[:, 1].astype(np.uint16))

    def pending(self) -> int:
        """Return how many memories have no vector."""
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
    ) -> Visibility:
        """Return what may be seen; the answer for the present is kept until something changes or expires.

        `ends` are, by slot, those that were known at `as_of`, where they are others than now.
        """
        kept = self._visibility
        present = as_of is None and true_at is None
        if present and kept is not None and kept.since <= now < kept.until:
            return kept
        records = self.records
        ends_as_of = None
        if ends:
            ends_as_of = records["until"].copy()
            ends_as_of[list(ends)] = list(ends.values())
        mask = visible(records, now, as_of=as_of, true_at=true_at, until=ends_as_of)
        everything = bool(mask.all())
        totals = [_total(part.view if everything else part.view[mask]) for part in self._lengths]
        turns = records["expires"]
        since = float(turns.max(initial=-math.inf, where=turns <= now))
        until = float(turns.min(initial=math.inf, where=turns > now))
        seen = int(np.count_nonzero(mask))
        visibility = Visibility(None if everything else mask, seen, _averages(totals), since, until)
        if present:
            waiting = self._pending
            self._reset_visibility(visibility)
            self._totals, self._pending = totals, waiting
        return visibility

    def _extended_visibility(self, records: Records) -> Visibility | None:
        """Return what may be seen at present with the newest records, which costs as much as they are.

        None if nobody has looked before, or if some of them will expire: then it is time to look anew.
        Lengths are whole numbers, and their sums are exact, in whichever order they are added.
        """
        kept = self._visibility
        if kept is None or (records["expires"] < math.inf).any():
            return None
        new = visible(records, kept.since)
        lengths = records["lengths"][new].astype(np.float32)
        more = zip(
            lengths.sum(axis=0, dtype=np.float64).tolist(), (lengths > 0).sum(axis=0).tolist(), strict=True
        )
        self._totals = [
            (total + length, having + also)
            for (total, having), (length, also) in zip(self._totals, more, strict=True)
        ]
        mask = kept.mask
        if mask is not None or not new.all():
            before = np.ones(len(self) - new.size, np.bool_) if mask is None else mask
            mask = np.concatenate([before, new])
        seen = kept.count + int(np.count_nonzero(new))
        return Visibility(mask, seen, _averages(self._totals), kept.since, kept.until)

    def _reset_visibility(self, visibility: Visibility | None = None) -> None:
        """Forget what followed from what could be seen."""
        self._pending = None
        self._visibility = visibility
        self._saturated.clear()


def _total(lengths: npt.NDArray[np.float32]) -> tuple[float, int]:
    """Return the sum of some lengths, and how many of them are not 0."""
    return float(lengths.sum(dtype=np.float64)), int(np.count_nonzero(lengths))


def _averages(totals: Sequence[tuple[float, int]]) -> dict[str, float]:
    return {
        field: total / having if having else 0.0
        for field, (total, having) in zip(FIELDS, totals, strict=True)
    }


class _BoundedCache(Generic[_Key, _Value]):
    """A table with a bound on its bytes; the least recently used entries go first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self.nbytes = 0

    def get(self, key: _Key) -> _Value | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        self.nbytes -= self._entries.pop(key, (value, 0))[1]
        self._entries[key] = value, size + _ENTRY_BYTES
        self.nbytes += size + _ENTRY_BYTES
        while self.nbytes > _CACHED_LIST_BYTES and len(self._entries) > 1:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.nbytes -= dropped

    def clear(self) -> None:
        self._entries.clear()
        self.nbytes = 0
