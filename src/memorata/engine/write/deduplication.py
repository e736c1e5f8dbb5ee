"""Deduplication on write: new memories are compared with existing ones inside the transaction that adds them.

Exact repeats are found by fingerprint, in one look-up for a whole batch. Near ones are looked for among the
nearest vectors, and by their rarest words where a vector is missing; these candidates are read word by word
(:mod:`memorata.dedupe.verification`). What only repeats an older memory is written all the same, superseded
by it from the start; the older one gains a mention and, at most once a day, some confidence. The same
candidates are read for contradictions (:mod:`memorata.dedupe.contradiction_score`). These are noted and
nothing more, unless the new memory is a correction: that supersedes what it contradicts most surely. What is
no correction, and has no speaker, is compared only with what begins with the same subject: so most of what is
remembered need not be searched for.

The transaction holds the only right to write, so of two processes that add the same text at the same time the
second finds what the first has added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, islice
from typing import Final

import numpy as np

from memorata._blas import ON_ONE_THREAD
from memorata._frozen import frozen
from memorata.dedupe.decisions import CORRECTION, Verdict
from memorata.dedupe.openings import MAX_COMPARED, concerned, opening
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends
from memorata.embed.port import Embedder
from memorata.engine.rules import DedupeMode, DedupeRules
from memorata.index.codes import Floats
from memorata.index.lexical import LexicalQuery
from memorata.index.record import FIELDS
from memorata.index.search import NamespaceIndex
from memorata.model.checks import BoolArray, IntArray
from memorata.model.memory import Memory
from memorata.rank.decay import SUPPORT_INTERVAL, corroborated
from memorata.store.entries import Entry, Terms
from memorata.store.memory.repeats import Contradiction, Repeat
from memorata.store.store import Store

_FIRST_NEAREST: Final = 16
_MAX_NEAREST: Final = 256
"""How many of the nearest are looked at, at first and at most: turns of transcripts may crowd others out."""
_MAX_RARE_TERMS: Final = 8
_MAX_NOTED: Final = 3
_MAX_READ: Final = 12
"""How many of the closest are read for contradictions: texts about the same thing are much alike."""
_MAX_ASSESSED: Final = 4
"""How many that begin with the same subject are assessed: each takes a tenth of a millisecond."""
_MAX_SUBJECT: Final = 4
"""How many memories of a batch that begin with the same subject are read for contradictions."""
_SPEAKER: Final = FIELDS.index("speaker")
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
    embedder: Embedder | None
    terms_of: Callable[[Memory], Terms]
    rules: DedupeRules

    @property
    def noise(self) -> float:
        """The cosine that texts of no connection have."""
        return 0.0 if self.embedder is None else self.embedder.similarity_threshold

    @property
    def threshold(self) -> float:
        """The least cosine of duplicates."""
        return self.rules.cosine(self.noise)

    def take(self, entries: Sequence[Entry], mode: DedupeMode, now: datetime) -> Deduplicated:
        """Write entries, all or none, and return what came of them."""
        memories = [entry.memory for entry in entries]
        # A turn is an event of a transcript; what says itself what it supersedes is no repeat.
        compared = [
            place
            for place, memory in enumerate(memories)
            if not memory.source.is_turn and not memory.supersedes
        ]
        if mode is DedupeMode.OFF or not compared:
            self.store.add(entries)
            return Deduplicated(memories, memories)
        alone = mode is DedupeMode.NEAR and len(compared) == 1
        ahead = self._searched_ahead(entries[compared[0]], now) if alone and self.store.is_remote else None
        with self.store.together():
            findings = _Findings(memories, self.rules.strategy)
            # In one order, so that two writers to several namespaces do not wait for each other.
            compared.sort(key=lambda place: memories[place].namespace)
            for path, places in groupby(compared, key=lambda place: memories[place].namespace):
                self._compare(path, [entries[place] for place in places], mode, findings, now, ahead)
            self.store.add(entries)
            findings.write(self.store, self.terms_of)
            return findings.result(self.store)

    def _searched_ahead(self, entry: Entry, now: datetime) -> _Ahead:
        """Look for what an entry may repeat before the transaction: its rows are then read with the lock."""
        with self.store.view(entry.memory.namespace, now) as view:
            return _Ahead(view.status.change, self._candidates(view, entry))

    def _compare(
        self,
        path: str,
        entries: Sequence[Entry],
        mode: DedupeMode,
        findings: _Findings,
        now: datetime,
        ahead: _Ahead | None,
    ) -> None:
        """Find out which entries of one namespace repeat or contradict what is there, or each other."""
        if self.store.is_remote:
            self.store.expect(path, entries, now, () if ahead is None else ahead.slots())
        alone = mode is DedupeMode.NEAR and len(entries) == 1
        first = entries[0].memory
        if alone and ahead is None and not _concerns_all(first) and self.store.is_new(path, first.content):
            # Nothing there concerns it, whatever its words; so nothing in the same words does either.
            return
        same_words = self.store.same(path, [entry.memory.fingerprint for entry in entries], now)
        corrects = any(entry.memory.category == CORRECTION for entry in entries)
        if mode is DedupeMode.EXACT and not same_words and not corrects and _all_differ(entries):
            return
        unmatched: list[Entry] = []
        for entry in entries:
            memory = entry.memory
            if not any(
                findings.judged(memory, older, 1.0, _EXACT, 1.0)
                for older in same_words.get(memory.fingerprint, ())
            ):
                same_words.setdefault(memory.fingerprint, []).append(memory)
                unmatched.append(entry)
        if mode is DedupeMode.NEAR:
            compared = [(entry, []) for entry in unmatched] if alone else self._comparable(path, unmatched)
        else:
            compared = _corrections(unmatched) if corrects else []
        if compared:
            with self.store.view(path, now) as view:
                if ahead is not None and ahead.change == view.status.change:
                    view.memories(ahead.slots())
                    self._compare_with(view, compared[0][0], ahead.candidates, findings)
                else:
                    self._compare_nearly(view, compared, findings)

    def _comparable(self, path: str, entries: Sequence[Entry]) -> list[tuple[Entry, list[_Candidate]]]:
        """Return the entries that may repeat or contradict others, and the ones before them that are near."""
        rows = np.stack([_first(entry) for entry in entries]) if _all_embedded(entries) else None
        compared = []
        about: dict[str, list[int]] = {}
        for place, entry in enumerate(entries):
            near: list[_Candidate] = []
            subject = opening(entry.memory.content).subject
            same_subject = about.setdefault(subject, []) if subject else []
            if rows is not None and place:
                with ON_ONE_THREAD:
                    inside = np.clip(rows[:place] @ rows[place], -1.0, 1.0)
                places = {*np.flatnonzero(inside >= self.threshold).tolist(), *same_subject[-_MAX_SUBJECT:]}
                near = [
                    _Candidate(float(inside[place_before]), memory=entries[place_before].memory)
                    for place_before in sorted(places)
                ]
            same_subject.append(place)
            if near or _concerns_all(entry.memory) or not self.store.is_new(path, entry.memory.content):
                compared.append((entry, near))
        return compared

    def _compare_nearly(
        self,
        view: NamespaceIndex,
        entries: Sequence[tuple[Entry, list[_Candidate]]],
        findings: _Findings,
    ) -> None:
        for entry, near in entries:
            self._compare_with(view, entry, self._candidates(view, entry) + near, findings)

    def _compare_with(
        self, view: NamespaceIndex, entry: Entry, candidates: Sequence[_Candidate], findings: _Findings
    ) -> None:
        closest = _closest(candidates)
        close = [
            candidate
            for candidate in candidates
            if candidate.cosine is None or candidate.cosine >= self.threshold or candidate in closest
        ]
        if any(
            findings.judged(entry.memory, older, self._measured(entry, candidate), _NEAR, self.threshold)
            for older, candidate in zip(_memories_of(view, close), close, strict=True)
        ):
            return
        content = entry.memory.content
        if _tells_change(content):
            from memorata.dedupe.contradiction_signs import may_contradict, signs

            # What it changes may be called by another word, and then is far by meaning.
            changed = (
                memory
                for memory in _memories_of(view, _closest(candidates, len(candidates)))
                if may_contradict(signs(memory.content), signs(content))
            )
            findings.contradicted(entry.memory, islice(changed, _MAX_READ))
            return
        older = _memories_of(view, closest)
        if not _concerns_all(entry.memory):
            subject = opening(content).subject
            about = [memory for memory in older if subject and opening(memory.content).subject == subject]
            # Where most begin with "I", those that cannot contradict it would crowd the others out.
            able = set(concerned(content, (), [memory.content for memory in about]) if about else ())
            older = list(islice((memory for memory in about if memory.content in able), _MAX_ASSESSED))
        findings.contradicted(entry.memory, older)

    def _measured(self, entry: Entry, candidate: _Candidate) -> float | None:
        """Return the cosine that decides; None where the letters do, as where there are no vectors.

        One word more moves a short text far with some embedders, though the wording shows what it says.
        """
        cosine, corrects = candidate.cosine, entry.memory.category == CORRECTION
        letters = cosine is not None and cosine < self.threshold and not self.rules.threshold
        return None if letters and not corrects else cosine

    def _candidates(self, view: NamespaceIndex, entry: Entry) -> list[_Candidate]:
        """Return memories that may say the same or the opposite, with their cosines, the closest first."""
        row = None if entry.vectors is None else entry.vectors[0]
        if row is None:
            slots = _plain(view, self._by_words(view, entry))
            return [_Candidate(None, slot) for slot in slots.tolist()]
        near, is_complete = self._nearest(view, row)
        slots = _plain(view, near)
        if not is_complete or slots.size < _MAX_READ or _tells_change(entry.memory.content):
            # Among these are those that no vector has been computed of yet.
            slots = np.concatenate([slots, _plain(view, np.setdiff1d(self._by_words(view, entry), near))])
        if not slots.size:
            return []
        embedded = view.records(slots)["vectors"].tolist()
        return [
            _Candidate(cosine if vectors else None, slot)
            for slot, cosine, vectors in zip(
                slots.tolist(), view.score(row, slots).scores.tolist(), embedded, strict=True
            )
        ]

    def _by_words(self, view: NamespaceIndex, entry: Entry) -> IntArray:
        """Return memories that share the rarest words of an entry, or name an attribute that it changes."""
        terms = list(entry.terms.get("content", {}))
        content = entry.memory.content
        if _tells_change(content):
            from memorata.dedupe.contradiction_signs import attribute_words

            named = replace(entry.memory, content=" ".join(attribute_words(content)) or content, entities=())
            attributes = list(self.terms_of(named).get("content", {}))
        else:
            attributes = []
        if not terms:
            return np.zeros(0, np.intp)
        slots = []
        for words, limit in ((terms, _MAX_RARE_TERMS), (attributes, len(attributes))):
            _, frequencies = view.document_frequencies(words)
            rarest = sorted((count, term) for term, count in frequencies.items() if count)
            weights = {term: 1.0 for _, term in rarest[:limit]}
            slots.append(view.search(LexicalQuery(weights, {"content": 1.0}), _FIRST_NEAREST).slots)
        return np.unique(np.concatenate(slots))

    def _nearest(self, view: NamespaceIndex, row: Floats) -> tuple[IntArray, bool]:
        """Return the nearest memories; more of them as long as all may be duplicates, and are turns.

        And whether no other is a duplicate, nor closer than any of these: so it is if every memory has a
        vector, all of them were compared, and the last of them is too far to be a duplicate.
        """
        limit = _FIRST_NEAREST
        while True:
            nearest = view.search(row, limit)
            is_all = nearest.slots.size < limit
            if is_all or limit >= _MAX_NEAREST or nearest.scores[-1] < self.threshold:
                apart = self.noise <= self.threshold and (is_all or nearest.scores[-1] < self.threshold)
                return nearest.slots[
                    nearest.scores >= self.noise
                ], apart and nearest.exact and not view.status.pending
            limit *= 4


@frozen
class _Candidate:
    """An existing memory, by its slot or read already, and its cosine if it has a vector."""

    cosine: float | None
    slot: int = -1
    memory: Memory | None = None


@frozen
class _Ahead:
    """What was found before the transaction: candidates, and the change of the namespace up to which."""

    change: int
    candidates: list[_Candidate]

    def slots(self) -> IntArray:
        """Return the slots of the candidates."""
        return np.array([candidate.slot for candidate in self.candidates], np.intp)


class _Findings:
    """Repeats and contradictions of the memories of a batch, collected while it is compared."""

    def __init__(self, memories: Sequence[Memory], strategy: str) -> None:
        self._memories = memories
        self._strategy = strategy
        self._repeats: dict[str, list[Repeat]] = {}
        self._noted: dict[str, list[Contradiction]] = {}
        self._updated: dict[str, Memory] = {}
        self._superseded_by: dict[str, str] = {}

    def judged(self, new: Memory, older: Memory, cosine: float | None, kind: str, threshold: float) -> bool:
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

    def contradicted(self, new: Memory, candidates: Iterable[Memory]) -> None:
        """Note which of some memories a new one may contradict; a correction supersedes the surest."""
        # Loaded on demand: a batch seldom does, and the words of contradictions take a while to list.
        from memorata.dedupe.contradiction_score import assess

        assessed = []
        for older in candidates:
            if older.id in self._superseded_by or _apart(older, new):
                continue
            assessment = assess(
                older.content, new.content, speakers=(older.source.speaker, new.source.speaker)
            )
            if assessment.hint is not None:
                assessed.append((assessment, older))
        assessed.sort(key=lambda pair: -pair[0].score)
        remarks = self._noted.setdefault(new.namespace, [])
        for rank, (assessment, older) in enumerate(assessed[:_MAX_NOTED]):
            assert assessment.hint is not None  # others are left out above
            remark = Contradiction(
                new.id, older.id, assessment.hint.cue, assessment.hint.reason, new.created_at
            )
            if rank == 0 and assessment.supersedes and _corrects(new, older):
                repeat = Repeat(older.id, new.id, _CORRECTION, remark.reason, new.created_at)
                self._repeats.setdefault(new.namespace, []).append(repeat)
                self._superseded_by[older.id] = new.id
            else:
                remarks.append(remark)

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


def _corrections(entries: Sequence[Entry]) -> list[tuple[Entry, list[_Candidate]]]:
    """Return the corrections of a batch, each with the entries before it that begin with the same subject."""
    corrections = []
    about: dict[str, list[Memory]] = {}
    for entry in entries:
        before = about.setdefault(opening(entry.memory.content).subject, [])
        if entry.memory.category == CORRECTION:
            corrections.append(
                (entry, [_Candidate(None, memory=memory) for memory in before[-_MAX_SUBJECT:]])
            )
        before.append(entry.memory)
    return corrections


def _concerns_all(memory: Memory) -> bool:
    """Return whether a memory is compared with whatever is near, and not only with what begins like it.

    A correction or a change may be of anything near; and the "I" of a speaker is the subject of other texts.
    """
    return memory.category == CORRECTION or bool(memory.source.speaker) or _tells_change(memory.content)


def _tells_change(content: str) -> bool:
    """Return whether a text says that something changed: what did may be the subject of no other text."""
    from memorata.dedupe.contradiction_signs import signs

    return len(content) <= MAX_COMPARED and signs(content).tells_change


def _corrects(new: Memory, older: Memory) -> bool:
    """Return whether a memory may supersede another that it contradicts."""
    return new.category == CORRECTION and not older.pinned and older.created_at <= new.created_at


def _apart(older: Memory, new: Memory) -> bool:
    """Return whether a new memory cannot contradict an older one.

    The "I" of two speakers differs, and the text of a tool or a page changes nothing that the user said.
    """
    if older.source.is_turn or (new.untrusted and not older.untrusted):
        return True
    speakers = {older.source.speaker, new.source.speaker} - {""}
    ended = older.valid_to is not None and older.valid_to <= new.event_time
    return len(speakers) > 1 or ended


def _closest(candidates: Sequence[_Candidate], limit: int = _MAX_READ) -> list[_Candidate]:
    """Return the few candidates that a new memory may contradict; those without a cosine come first."""
    near = sorted(
        candidates, key=lambda candidate: 1.0 if candidate.cosine is None else candidate.cosine, reverse=True
    )
    return near[:limit]


def _memories_of(view: NamespaceIndex, candidates: Sequence[_Candidate]) -> list[Memory]:
    """Return the memories of candidates: rows are read of those that cosines have left, and of no others."""
    unread = [candidate.slot for candidate in candidates if candidate.memory is None]
    rows = iter(view.memories(np.array(unread, np.intp)) if unread else ())
    return [next(rows) if candidate.memory is None else candidate.memory for candidate in candidates]


def _plain(view: NamespaceIndex, slots: IntArray) -> IntArray:
    """Return those of some memories that may be no turns of a transcript, as far as their records show."""
    if not slots.size:
        return slots
    records = view.records(slots)
    silent: BoolArray = records["lengths"][:, _SPEAKER] == 0
    return slots[silent | (records["session"] < 0) | (records["position"] < 0)]


def _all_differ(entries: Sequence[Entry]) -> bool:
    """Return whether no two entries have the same words, as in most imports."""
    return len({entry.memory.fingerprint for entry in entries}) == len(entries)


def _all_embedded(entries: Sequence[Entry]) -> bool:
    return len(entries) > 1 and all(entry.vectors is not None for entry in entries)


def _first(entry: Entry) -> Floats:
    assert entry.vectors is not None  # the caller looked
    row: Floats = entry.vectors[0]
    return row
