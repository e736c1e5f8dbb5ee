"""Deduplication on write: new memories are compared with existing ones inside the transaction that adds them.

Repeats are found by the key of their statement (:func:`~memorata.dedupe.wording.statement_key`), which stands
in an index of the database: one look-up for a whole batch, of any size of the namespace. Candidates are then
read word by word (:mod:`memorata.dedupe.verification`). A repeat is written all the same, superseded by the
older memory from the start; the older one gains a mention and, at most once a day, some confidence.

A short text that claims something is also compared with at most eight memories that may claim another value
(:mod:`memorata.dedupe.contradiction`). A contradiction is noted and nothing more, unless the new memory is a
correction: that supersedes the memory that it contradicts.

The transaction holds the only right to write, so of two processes that add the same text at the same time the
second finds the text of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.decisions import CORRECTION, Verdict
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends, statement_key
from memorata.engine.rules import DedupeMode, DedupeRules
from memorata.index.lexical import LexicalQuery
from memorata.index.record import SPEAKER
from memorata.index.search import NamespaceIndex
from memorata.model.checks import BoolArray, IntArray
from memorata.model.memory import Memory
from memorata.rank.decay import SUPPORT_INTERVAL, corroborated
from memorata.store.entries import Entry, Terms
from memorata.store.memory.repeats import Contradiction, Repeat
from memorata.store.store import Store

_MAX_COMPARED: Final = 8
"""How many memories are read for contradictions of a new one."""
_MAX_FOUND: Final = 32
"""Among how many of the same words the nearest are read."""
_MAX_RARE_TERMS: Final = 8
_MAX_RELATED_TERMS: Final = 24
_MAX_SAME: Final = 32
"""How many memories of one statement are compared with a new one."""
_MAX_NOTED: Final = 3
_EXACT: Final = "exact"
_NEAR: Final = "near"
_CORRECTION: Final = "correction"


@frozen
class Deduplicated:
    """The memory that each entry became or repeats, and the new ones among them."""

    survivors: list[Memory]
    fresh: list[Memory]


@frozen
class Deduplicator:
    """Adds entries, and links those that repeat or correct existing memories."""

    store: Store
    terms_of: Callable[[Memory], Terms]
    rules: DedupeRules

    def add_deduplicated(self, entries: Sequence[Entry], mode: DedupeMode, now: datetime) -> Deduplicated:
        """Write entries, all or none, and return what came of them."""
        memories = [entry.memory for entry in entries]
        # A turn is an event of a transcript; a memory with links of its own is no repeat.
        compared = [
            place
            for place, memory in enumerate(memories)
            if not memory.source.is_turn and not memory.supersedes
        ]
        if mode is DedupeMode.OFF or not compared:
            self.store.add(entries)
            return Deduplicated(memories, memories)
        with self.store.together():
            findings = _Findings(memories, self.rules.strategy)
            # In one order, so that two writers to several namespaces do not wait for each other.
            compared.sort(key=lambda place: memories[place].namespace)
            for path, places in groupby(compared, key=lambda place: memories[place].namespace):
                self._compare(path, [entries[place] for place in places], mode, findings, now)
            self.store.add(entries)
            findings.write(self.store, self.terms_of)
            return findings.result(self.store)

    def _compare(
        self, path: str, entries: Sequence[Entry], mode: DedupeMode, findings: _Findings, now: datetime
    ) -> None:
        """Find out which entries of one namespace repeat or contradict existing memories, or each other."""
        self.store.expect(path, entries, now)
        keys = [statement_key(entry.memory.content) for entry in entries]
        same = self.store.same(path, keys, now)
        new: list[Entry] = []
        for key, entry in zip(keys, entries, strict=True):
            older = same.setdefault(key, [])
            if not self._repeats(path, entry, older, mode, findings):
                older.append(entry.memory)
                new.append(entry)
        if mode is DedupeMode.EXACT:
            new = [entry for entry in new if entry.memory.category == CORRECTION]
        claiming = [(entry, words) for entry in new if (words := _related_words(entry.memory)) is not None]
        if claiming:
            with self.store.view(path, now) as view:
                for entry, words in claiming:
                    older = view.memories(self._candidates(view, entry, words))
                    findings.contradicted(entry.memory, older + findings.before(entry.memory))

    def _repeats(
        self, path: str, entry: Entry, older: Sequence[Memory], mode: DedupeMode, findings: _Findings
    ) -> bool:
        """Return whether an entry repeats one of some memories that make the same statement, and note it."""
        memory = entry.memory
        exact = [one for one in older if one.fingerprint == memory.fingerprint][:_MAX_SAME]
        if any(findings.record_if_repeat(memory, one, 1.0, _EXACT, 1.0) for one in exact):
            return True
        near = [one for one in older if one.fingerprint != memory.fingerprint][:_MAX_SAME]
        return mode is DedupeMode.NEAR and any(
            findings.record_if_repeat(
                memory, one, self._cosine(path, entry, one), _NEAR, self.rules.threshold
            )
            for one in near
        )

    def _cosine(self, path: str, entry: Entry, older: Memory) -> float | None:
        """Return the cosine that decides; None where the letters do, as without a threshold of one's own."""
        if not self.rules.threshold or entry.vectors is None:
            return None
        with self.store.view(path, entry.memory.created_at) as view:
            slot = self.store.slots(path, [older.id]).get(older.id)
            if slot is None or not view.records(np.array([slot]))["vectors"][0]:
                return None
            return float(view.score(entry.vectors[0], np.array([slot])).scores[0])

    def _candidates(self, view: NamespaceIndex, entry: Entry, words: frozenset[str]) -> IntArray:
        """Return a few memories of the rarest words of an entry, and of words of its attributes."""
        own = list(entry.terms.get("content", {}))
        related = _terms(self.terms_of, words)
        _, frequencies = view.document_frequencies([*own, *related])
        weights: dict[str, float] = {}
        for terms, most in ((own, _MAX_RARE_TERMS), (related, _MAX_RELATED_TERMS)):
            counted = sorted((frequencies[term], term) for term in terms if frequencies.get(term))
            weights |= {term: 1.0 for _, term in counted[:most]}
        if not weights:
            return np.zeros(0, np.intp)
        slots = view.search(LexicalQuery(weights, {"content": 1.0}), _MAX_FOUND).slots
        slots = _without_turns(view, slots)
        if entry.vectors is not None and slots.size > _MAX_COMPARED:
            slots = slots[np.argsort(-view.score(entry.vectors[0], slots).scores, kind="stable")]
        return slots[:_MAX_COMPARED]


class _Findings:
    """Repeats and contradictions of the memories of a batch, collected while it is compared."""

    def __init__(self, memories: Sequence[Memory], strategy: str) -> None:
        self._memories = memories
        self._strategy = strategy
        self._repeats: dict[str, list[Repeat]] = {}
        self._noted: dict[str, list[Contradiction]] = {}
        self._updated: dict[str, Memory] = {}
        self._superseded_by: dict[str, str] = {}

    def before(self, memory: Memory) -> list[Memory]:
        """Return the few memories of the batch that come just before one in its namespace, without turns."""
        place = next(place for place, each in enumerate(self._memories) if each is memory)
        return [
            each
            for each in self._memories[max(0, place - _MAX_COMPARED) : place]
            if each.namespace == memory.namespace
        ]

    def record_if_repeat(
        self, new: Memory, older: Memory, cosine: float | None, kind: str, threshold: float
    ) -> bool:
        """Return whether a memory repeats or corrects an older one, and note how.

        Mostly the older one stays, whatever the confidences: what refers to it goes on doing so. It takes
        over the higher of the two, and is supported by the other. A correction takes its place, and so does
        a duplicate that the strategy prefers.
        """
        if older.id in self._superseded_by:
            return False
        older = self._updated.get(older.id, older)
        decision = judge(older, new, cosine, threshold=threshold)
        at = max(older.created_at, new.created_at)
        if decision.verdict is Verdict.CORRECTION and decision.winner is new:
            repeat = Repeat(older.id, new.id, _CORRECTION, decision.reason, at)
            self._superseded_by[older.id] = new.id
        elif decision.verdict is Verdict.DUPLICATE and (
            # It says the same, and more.
            extends(new.content, older.content) or self._strategy == "keep_both"
        ):
            return False
        elif decision.verdict is Verdict.DUPLICATE and self._prefers(new, older):
            confidence = max(older.confidence, new.confidence)
            repeat = Repeat(older.id, new.id, kind, decision.reason, at, older.mentions, confidence, None)
            self._superseded_by[older.id] = new.id
        elif decision.verdict in (Verdict.DUPLICATE, Verdict.CORRECTION):
            latest = max(filter(None, (older.created_at, older.supported_at)))
            confidence = corroborated(max(older.confidence, new.confidence), latest, at)
            # Support that does not count is not noted either: what is repeated every hour is supported daily.
            support = at if at - latest >= SUPPORT_INTERVAL else None
            self._updated[older.id] = replace(
                older, confidence=confidence, supported_at=support or older.supported_at
            )
            repeat = Repeat(new.id, older.id, kind, decision.reason, at, new.mentions, confidence, support)
            self._superseded_by[new.id] = older.id
        else:
            return False
        self._repeats.setdefault(new.namespace, []).append(repeat)
        return True

    def _prefers(self, new: Memory, older: Memory) -> bool:
        """Return whether the strategy lets the new one of two duplicates stay."""
        if older.pinned:
            return False
        surer = self._strategy == "keep_highest_confidence" and new.confidence > older.confidence
        return surer or (self._strategy == "keep_most_recent" and new.created_at >= older.created_at)

    def contradicted(self, new: Memory, candidates: Sequence[Memory]) -> None:
        """Note which of some memories a new one contradicts; a correction supersedes the first."""
        # Loaded on demand: few processes write, and the words take a while to list.
        from memorata.dedupe.contradiction import contradiction

        corrects = new.category == CORRECTION
        remarks = self._noted.setdefault(new.namespace, [])
        for older in candidates:
            if older.id in self._superseded_by or _apart(older, new) or len(remarks) >= _MAX_NOTED:
                continue
            hint = contradiction(
                older.content, new.content, speakers=(older.source.speaker, new.source.speaker)
            )
            if hint is None:
                continue
            if corrects and not older.pinned and older.created_at <= new.created_at:
                repeat = Repeat(older.id, new.id, _CORRECTION, hint.reason, new.created_at)
                self._repeats.setdefault(new.namespace, []).append(repeat)
                self._superseded_by[older.id] = new.id
                corrects = False
            else:
                remarks.append(Contradiction(new.id, older.id, hint.cue, hint.reason, new.created_at))

    def write(self, store: Store, terms_of: Callable[[Memory], Terms]) -> None:
        """Write down what was found; the memories themselves are there by now."""
        for path, repeats in self._repeats.items():
            store.duplicates.repeat(path, repeats, terms_of)
        for path, hints in self._noted.items():
            if hints:
                store.contradictions.note(path, hints)

    def result(self, store: Store) -> Deduplicated:
        """Return what came of the batch."""
        if not self._repeats:
            return Deduplicated(list(self._memories), list(self._memories))
        # The winner of a repeat has gained by it; one that took the place of another lists that.
        changed = {repeat.of: path for path, repeats in self._repeats.items() for repeat in repeats}
        current = {id_: store.get(path, [id_])[0] for id_, path in changed.items()}
        survivors = [
            current.get(self._superseded_by.get(memory.id, memory.id), memory) for memory in self._memories
        ]
        return Deduplicated(
            survivors, [memory for memory in self._memories if memory.id not in self._superseded_by]
        )


@lru_cache(maxsize=64)
def _terms(terms_of: Callable[[Memory], Terms], words: frozenset[str]) -> tuple[str, ...]:
    """Return the terms of listed words."""
    if not words:
        return ()
    listed = Memory(id="words", content=" ".join(sorted(words)), created_at=datetime.fromtimestamp(0, UTC))
    return tuple(terms_of(listed).get("content", {}))


def _related_words(memory: Memory) -> frozenset[str] | None:
    """Return words of what a memory may contradict; None if it claims nothing that is compared."""
    from memorata.dedupe.contradiction import related_words

    return related_words(memory.content, memory.source.speaker)


def _apart(older: Memory, new: Memory) -> bool:
    """Return whether a new memory cannot contradict an older one.

    The "I" of two speakers differs, and the text of a tool or a page changes nothing that the user said.
    """
    if older.source.is_turn or (new.untrusted and not older.untrusted):
        return True
    speakers = {older.source.speaker, new.source.speaker} - {""}
    ended = older.valid_to is not None and older.valid_to <= new.event_time
    return len(speakers) > 1 or ended


def _without_turns(view: NamespaceIndex, slots: IntArray) -> IntArray:
    """Return those of some memories that may be no turns of a transcript, as far as their records show."""
    if not slots.size:
        return slots
    records = view.records(slots)
    silent: BoolArray = records["lengths"][:, SPEAKER] == 0
    return slots[silent | (records["session"] < 0) | (records["position"] < 0)]
