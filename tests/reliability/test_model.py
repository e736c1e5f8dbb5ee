"""Any sequence of operations equals a plain-Python model of the store.

Two engines on one file take turns, so that each has to catch up with what the other wrote; segments are tiny,
so that flushes and merges happen all the time; vectors are searched by codes as soon as there are a few.
"""

import functools
import math
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.index import cache, segments
from memorata.index.lexical import LexicalQuery
from memorata.model.errors import InvalidArgument, MemoryNotFound, VersionConflict
from memorata.model.memory import Memory
from memorata.rank.bm25 import BM25
from memorata.store.memory import memories as writing

START = datetime(2026, 5, 7, 12, tzinfo=UTC)
EMBEDDER = LexicalEmbedder(dimension=32)
NAMESPACES = ("acme/alice", "acme/bob")
WORDS = ("tea", "milk", "cup", "train", "lisbon", "anna")
SCORER = BM25(1.2, 0.75)
LIMITS = ((writing, "TAIL", 3), (segments, "TAIL", 3), (segments, "_FAN_OUT", 2), (segments, "SPAN", 16),
          (cache, "MAX_EXACT_VECTORS", 6))  # fmt: skip

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
tags = st.lists(st.sampled_from(WORDS), max_size=2, unique=True).map(tuple)
namespaces = st.sampled_from(NAMESPACES)
turns = st.integers(0, 1)
picks = st.integers(0, 10_000)


@dataclass
class Known:
    """What the model knows of a memory."""

    id: str
    content: str
    tags: tuple[str, ...]
    created: datetime
    expires: datetime | None = None
    confidence: float = 1.0
    version: int = 1
    forgotten: bool = False
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    supersedes: list[str] = field(default_factory=list)

    def shown(self, now: datetime, as_of: datetime | None) -> bool:
        if self.forgotten or (self.expires is not None and self.expires <= now):
            return False
        if as_of is None:
            return self.superseded_by is None
        return self.created <= as_of and (self.superseded_at is None or self.superseded_at > as_of)

    @property
    def fields(self) -> Mapping[str, list[str]]:
        return {"content": self.content.split(), "tags": list(self.tags)}


@dataclass(frozen=True)
class Counts:
    """Statistics of one field of some memories, counted one by one; a term is as frequent as in any field."""

    texts: list[list[str]]
    fields: list[list[list[str]]]

    @property
    def document_count(self) -> int:
        return len(self.texts)

    @property
    def average_length(self) -> float:
        lengths = [len(text) for text in self.texts if text]
        return sum(lengths) / len(lengths) if lengths else 0.0

    def document_frequency(self, term: str) -> int:
        return max(sum(term in text for text in texts) for texts in self.fields)


def by_words(memories: list[Known], query: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    """BM25 text by text."""
    scores: dict[str, float] = {}
    fields = {name: [list(known.fields[name]) for known in memories] for name in weights}
    for name, weight in weights.items():
        counts = Counts(fields[name], list(fields.values()))
        for known in memories:
            text = list(known.fields[name])
            for term in query.elements():
                if term in text:
                    scores[known.id] = scores.get(known.id, 0.0) + weight * bm25(term, text, counts)
    return scores


def bm25(term: str, text: list[str], counts: Counts) -> float:
    """The formula read off the page, for one occurrence of a term in the query."""
    df, tf = counts.document_frequency(term), text.count(term)
    idf = math.log((counts.document_count - df + 0.5) / (df + 0.5) + 1)
    norm = SCORER.k1 * (1 - SCORER.b + SCORER.b * len(text) / counts.average_length)
    return idf * tf * (SCORER.k1 + 1) / (tf + norm)


class Model(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "m.db"
        self.now = START
        self.model: dict[str, list[Known]] = {namespace: [] for namespace in NAMESPACES}
        self.patch = pytest.MonkeyPatch()
        for module, name, value in LIMITS:
            self.patch.setattr(module, name, value)
        self.engines = [self.opened(), self.opened()]
        self.numbers = 0

    def opened(self) -> memorata.Engine:
        return memorata.open(
            self.path,
            embedder=EMBEDDER,
            clock=lambda: self.now,
            config={"durable": False, "duplicates": "off", "analyser": "plain"},
        )

    def teardown(self) -> None:
        problems = self.engines[0].admin.check()
        for engine in self.engines:
            engine.close()
        self.patch.undo()
        self.folder.cleanup()
        assert problems == []

    def fresh_id(self) -> str:
        self.numbers += 1
        return f"m{self.numbers}"

    def pick(self, namespace: str, number: int) -> Known:
        return self.model[namespace][number % len(self.model[namespace])]

    def tick(self) -> None:
        self.now += timedelta(seconds=1)

    # --- what can be done -----------------------------------------------------------------------------

    @initialize(texts=st.lists(texts, min_size=4, max_size=12))
    def begin(self, texts: list[str]) -> None:
        self.remember_many(0, NAMESPACES[0], texts)

    @rule(turn=turns, namespace=namespaces, text=texts, tags=tags, lives=st.none() | st.integers(1, 5))
    def remember(
        self, turn: int, namespace: str, text: str, tags: tuple[str, ...], lives: int | None
    ) -> None:
        self.tick()
        expires = None if lives is None else self.now + timedelta(seconds=lives)
        known = Known(self.fresh_id(), text, tags, self.now, expires)
        self.engines[turn].remember(text, id=known.id, tags=tags, expires_at=expires, namespace=namespace)
        self.model[namespace].append(known)

    @rule(turn=turns, namespace=namespaces, texts=st.lists(texts, max_size=9))
    def remember_many(self, turn: int, namespace: str, texts: list[str]) -> None:
        self.tick()
        fresh = [Known(self.fresh_id(), text, (), self.now) for text in texts]
        self.engines[turn].remember_many(
            [{"id": known.id, "content": known.content} for known in fresh], namespace=namespace
        )
        self.model[namespace] += fresh

    @rule(turn=turns, namespace=namespaces, number=picks, text=texts)
    def correct(self, turn: int, namespace: str, number: int, text: str) -> None:
        if not self.model[namespace]:
            return
        self.tick()
        old = self.pick(namespace, number)
        if old.superseded_by is not None:
            with pytest.raises(InvalidArgument):
                self.engines[turn].correct(old.id, text, namespace=namespace)
            return
        new = self.engines[turn].correct(old.id, text, namespace=namespace)
        # A correction expires when what it corrects would have.
        expires = old.expires if old.expires is not None and old.expires > self.now else None
        self.model[namespace].append(Known(new.id, text, old.tags, self.now, expires, supersedes=[old.id]))
        old.superseded_by, old.superseded_at, old.version = new.id, self.now, old.version + 1

    @rule(
        turn=turns, namespace=namespaces, numbers=st.lists(picks, min_size=1, max_size=3), hide=st.booleans()
    )
    def forget_or_restore(self, turn: int, namespace: str, numbers: list[int], hide: bool) -> None:
        if not self.model[namespace]:
            return
        chosen = [self.pick(namespace, number) for number in numbers]
        engine = self.engines[turn]
        (engine.forget if hide else engine.restore)(*[known.id for known in chosen], namespace=namespace)
        for known in chosen:
            known.forgotten = hide

    @rule(turn=turns, namespace=namespaces, number=picks)
    def purge(self, turn: int, namespace: str, number: int) -> None:
        if not self.model[namespace]:
            return
        gone = self.pick(namespace, number)
        self.engines[turn].purge(gone.id, namespace=namespace)
        self.model[namespace].remove(gone)
        replaced = [known for known in self.model[namespace] if known.superseded_by == gone.id]
        for known in replaced:
            known.superseded_by, known.version = gone.superseded_by, known.version + 1
            if gone.superseded_by is None:
                known.superseded_at = None
        for known in self.model[namespace]:
            if gone.id in known.supersedes:
                known.supersedes.remove(gone.id)
                known.supersedes += [each.id for each in replaced]
                known.version += 1
        with pytest.raises(MemoryNotFound):
            self.engines[1 - turn].get(gone.id, namespace=namespace)

    @rule(turn=turns, namespace=namespaces, number=picks, confidence=st.sampled_from([0.25, 0.5]))
    def update(self, turn: int, namespace: str, number: int, confidence: float) -> None:
        if not self.model[namespace]:
            return
        known = self.pick(namespace, number)
        memory = self.engines[turn].get(known.id, namespace=namespace)
        store = self.engines[turn].store
        written = store.update(replace(memory, confidence=confidence), memory.version)
        known.confidence, known.version = confidence, known.version + 1
        assert written.version == known.version
        with pytest.raises(VersionConflict):
            self.engines[1 - turn].store.update(memory, memory.version)

    @rule(turn=turns)
    def reopen(self, turn: int) -> None:
        self.engines[turn].close()
        self.engines[turn] = self.opened()

    @rule(turn=turns)
    def rebuild(self, turn: int) -> None:
        for namespace in NAMESPACES:
            self.engines[turn].store.rebuild(namespace, self.engines[turn].runtime.terms_of)

    @rule(seconds=st.integers(1, 3))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    # --- what must hold -------------------------------------------------------------------------------

    @invariant()
    def listings_are_those_of_the_model(self) -> None:
        for engine in self.engines:
            for namespace in NAMESPACES:
                newest_first = self.model[namespace][::-1]
                shown = [k.id for k in newest_first if not k.forgotten and k.superseded_by is None]
                assert listed(engine, namespace, hidden=False) == shown
                assert listed(engine, namespace, hidden=True) == [known.id for known in newest_first]

    @rule(turn=turns, namespace=namespaces)
    def memories_are_those_of_the_model(self, turn: int, namespace: str) -> None:
        stored = {memory.id: memory for memory in self.engines[turn].store.export(namespace)}
        assert list(stored) == [known.id for known in self.model[namespace]]
        for known in self.model[namespace]:
            memory = stored[known.id]
            assert (memory.content, memory.tags, memory.confidence) == (
                known.content,
                known.tags,
                known.confidence,
            )
            assert (memory.version, memory.superseded_by) == (known.version, known.superseded_by)
            assert list(memory.supersedes) == known.supersedes

    @precondition(lambda self: any(self.model.values()))
    @rule(turn=turns, namespace=namespaces, number=picks)
    def history_is_the_chain(self, turn: int, namespace: str, number: int) -> None:
        if not self.model[namespace]:
            return
        known = {each.id: each for each in self.model[namespace]}
        current = self.pick(namespace, number)
        while current.superseded_by is not None:
            current = known[current.superseded_by]
        chain, waiting = set(), [current.id]
        while waiting:
            chain.add(waiting[-1])
            waiting += known[waiting.pop()].supersedes
        history = self.engines[turn].history(self.pick(namespace, number).id, namespace=namespace)
        assert {memory.id for memory in history} == chain
        assert len(history) == len(chain)
        assert history[-1].id == current.id

    @invariant()
    def recalls_are_those_of_the_model(self) -> None:
        for engine in self.engines:
            for namespace in NAMESPACES:
                self.compare(engine, namespace, ["tea", "tea", "lisbon", "nobody"], None, 100)

    @rule(
        turn=turns,
        namespace=namespaces,
        words=st.lists(st.sampled_from((*WORDS, "nobody")), min_size=1, max_size=4),
        back=st.none() | st.integers(0, 20),
        limit=st.sampled_from([2, 5]),
    )
    def recall(self, turn: int, namespace: str, words: list[str], back: int | None, limit: int) -> None:
        as_of = None if back is None else self.now - timedelta(seconds=back)
        self.compare(self.engines[turn], namespace, words, as_of, limit)

    def compare(
        self, engine: memorata.Engine, namespace: str, words: list[str], as_of: datetime | None, limit: int
    ) -> None:
        seen = [known for known in self.model[namespace] if known.shown(self.now, as_of)]
        weights = {"content": 1.0, "tags": 0.5}
        query = Counter(words)
        aim = EMBEDDER.embed_query(" ".join(words))
        near = {known.id: cosine(known.content, aim) for known in seen}
        with engine.store.view(namespace, self.now, as_of=as_of) as look:
            found = look.search(LexicalQuery(dict(query), weights, (), SCORER), limit)
            agrees(look.memories(found.slots), found.scores, by_words(seen, query, weights), limit)
            nearest = look.search(aim, limit)
            agrees(look.memories(nearest.slots), nearest.scores, near, limit)
            count, frequencies = look.document_frequencies(WORDS)
            assert (count, look.status.pending) == (len(seen), 0)
            for word in WORDS:
                assert frequencies[word] == sum(word in known.content.split() for known in seen)


@functools.cache
def passages(content: str) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    (rows,) = EMBEDDER.embed_passages([content])
    return rows


def cosine(content: str, aim: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    return float((passages(content) @ aim).max())


def listed(engine: memorata.Engine, namespace: str, *, hidden: bool) -> list[str]:
    ids: list[str] = []
    cursor = None
    while True:
        page = engine.list(namespace=namespace, limit=4, cursor=cursor, hidden=hidden)
        ids += [memory.id for memory in page.memories]
        cursor = page.cursor
        if cursor is None:
            return ids


def agrees(memories: list[Memory], scores: object, wanted: Mapping[str, float], limit: int) -> None:
    got = np.asarray(scores)
    assert got == pytest.approx(sorted(wanted.values(), reverse=True)[:limit], abs=1e-6)
    for memory, score in zip(memories, got.tolist(), strict=True):
        assert score == pytest.approx(wanted[memory.id], abs=1e-6)
    assert len({memory.id for memory in memories}) == len(memories)


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=settings().max_examples // 3,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
