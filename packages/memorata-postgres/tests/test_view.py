"""A server and a file give the same answers about the same memories, whatever is asked."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorata.engine.recall.legs import nearby, timely
from memorata.index.candidates import LegCandidates
from memorata.index.lexical import LexicalQuery
from memorata.index.search import NamespaceIndex
from memorata.model.entity import Period, Place
from memorata.model.memory import Memory, Source
from memorata.rank.bm25 import BM25, ContextWindow
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.filters import parse
from memorata.store.store import Store
from memorata_postgres.store import PostgresStore

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DIMENSION = 4
WORDS = ["tea", "milk", "cup", "green", "anna", "the", "x" * 3_000]
NUMBERS = count()

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
HOURS = st.integers(-72, 72).map(lambda hours: NOW + timedelta(hours=hours))
AXES = np.eye(DIMENSION, dtype=np.float32)
VECTORS = st.lists(st.sampled_from(range(DIMENSION)), min_size=1, max_size=2)
MEMORIES = st.fixed_dictionaries(
    {
        "words": TEXTS,
        "tags": st.lists(st.sampled_from(WORDS[:3]), max_size=2),
        "session": st.sampled_from(["", "s1", "s2"]),
        "position": st.none() | st.integers(0, 3),
        "created_at": HOURS,
        "valid_from": st.none() | HOURS,
        "expires_at": st.none() | HOURS,
        "place": st.none()
        | st.builds(Place, st.sampled_from([0, 0.01, 52, 90]), st.sampled_from([0, 13, 180])),
        "vectors": st.none() | VECTORS,
        "fate": st.sampled_from(["stays"] * 5 + ["forgotten", "purged", "corrected"]),
    }
)
QUERIES = st.builds(
    LexicalQuery,
    st.dictionaries(st.sampled_from([*WORDS, "is_new"]), st.sampled_from([1.0, 0.5, 2.0]), min_size=1),
    st.sampled_from([{"content": 1.0}, {"content": 1.0, "tags": 0.5}, {"tags": 2.0, "content": 0.0}]),
    st.sampled_from([(), ("cup",), ("cup", "milk")]),
    st.sampled_from([BM25(1.2, 0.75), BM25(0.9, 0.0)]),
)
FILTERS: list[Mapping[str, Any]] = [
    {"tags": "tea"},
    {"content": {"contains": "MILK"}},
    {"session": {"in": ["s1", ""]}},
]
VIEWS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "as_of": HOURS,
        "true_at": HOURS,
        "filter": st.sampled_from(FILTERS).map(parse),
    },
)


def entry(number: int, namespace: str, known: dict[str, Any]) -> Entry:
    memory = Memory(
        id=f"m{number}",
        namespace=namespace,
        content=" ".join(known["words"]),
        created_at=known["created_at"],
        tags=tuple(known["tags"]),
        source=Source(session=known["session"], position=known["position"]),
        valid_from=known["valid_from"],
        expires_at=known["expires_at"],
        place=known["place"],
        fingerprint="00" * 16,
    )
    terms = {
        field: {word: words.count(word) for word in dict.fromkeys(words)}
        for field, words in (("content", known["words"]), ("tags", known["tags"]))
        if words
    }
    vectors = None if known["vectors"] is None else AXES[known["vectors"]]
    return Entry(memory, terms, vectors, f"digest {known['vectors']}".encode())


def told(store: Store, namespace: str, memories: list[dict[str, Any]]) -> None:
    """Write memories, and let happen to them what is to happen."""
    store.add([entry(number, namespace, known) for number, known in enumerate(memories)])
    for number, known in enumerate(memories):
        match known["fate"]:
            case "forgotten":
                store.forget(namespace, [f"m{number}"], NOW)
            case "corrected":
                newer = entry(1000 + number, namespace, memories[0])
                chained = Memory(**{**fields(newer.memory), "supersedes": (f"m{number}",)})
                store.add([Entry(chained, newer.terms, newer.vectors, newer.digest)])
            case "purged":
                store.purge(namespace, [f"m{number}"])


def fields(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in Memory.__dataclass_fields__}


@pytest.fixture
def both(store: PostgresStore) -> Iterator[tuple[Store, Store]]:
    file = SqliteStore(":memory:")
    for each in (file, store):
        each.use_embedder("axes", DIMENSION)
    yield file, store
    file.close()


def same(one: LegCandidates, other: LegCandidates, exactly: bool = True) -> None:
    assert other.slots.tolist() == one.slots.tolist()
    if exactly:
        assert other.scores.tolist() == one.scores.tolist()
    else:
        assert other.scores == pytest.approx(one.scores, abs=1e-6)
    assert other.ceiling == pytest.approx(one.ceiling)
    if one.detail is not None and one.slots.size:
        assert other.detail is not None
        mine, theirs = one.detail(one.slots[::-1]), other.detail(one.slots[::-1])
        assert theirs.names == mine.names
        np.testing.assert_allclose(theirs.parts, mine.parts, atol=1e-12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(MEMORIES, min_size=1, max_size=14), QUERIES, VIEWS, st.integers(0, 15), st.data())
def test_every_leg_answers_as_the_file_does(
    both: tuple[Store, Store],
    memories: list[dict[str, Any]],
    query: LexicalQuery,
    asked: dict[str, Any],
    limit: int,
    data: st.DataObject,
) -> None:
    namespace = f"space/{next(NUMBERS)}"
    for store in both:
        told(store, namespace, memories)
    with both[0].view(namespace, NOW, **asked) as one, both[1].view(namespace, NOW, **asked) as other:
        assert (other.status.count, other.status.pending) == (one.status.count, one.status.pending)
        same(one.search(query, limit), other.search(query, limit))
        everyone = one.search(LexicalQuery(dict.fromkeys(WORDS, 1.0), {"content": 1.0}), 100).slots
        assert other.records(everyone).tobytes() == one.records(everyone).tobytes()
        assert other.memories(everyone) == one.memories(everyone)
        aim = np.array(data.draw(st.permutations([0.8, 0.5, 0.3, 0.1])), np.float32)
        aim /= np.linalg.norm(aim)
        same(one.search(aim, limit, query.excluded), other.search(aim, limit, query.excluded), exactly=False)
        assert other.score(aim, everyone).scores == pytest.approx(one.score(aim, everyone).scores, abs=1e-6)
        assert other.vectors(everyone).tolist() == one.vectors(everyone).tolist()
        some = everyone[: data.draw(st.integers(0, 5))]
        reading = ContextWindow(before=0.7, after=0.3)
        # The file adds neighbours of all candidates up in one order, the server in another: to the last bit
        # or nearly so.
        same(one.score(query, some, reading), other.score(query, some, reading), exactly=False)
        assert other.neighbours(some, 2).tolist() == one.neighbours(some, 2).tolist()
        assert other.without(some, ("cup",)).tolist() == one.without(some, ("cup",)).tolist()
        assert other.document_frequencies(WORDS, "tags") == one.document_frequencies(WORDS, "tags")
        situated(one, other, limit, data)


def situated(one: NamespaceIndex, other: NamespaceIndex, limit: int, data: st.DataObject) -> None:
    centre = data.draw(HOURS)
    period = Period.around(centre, timedelta(hours=data.draw(st.sampled_from([0, 5, 30]))))
    same(
        timely(one.records(), one.without(None, ()), period, limit),
        timely(other.records(), other.without(None, ()), period, limit),
    )
    here = Place(data.draw(st.sampled_from([0, 51, -90])), data.draw(st.sampled_from([0, -179, 13])))
    same(
        nearby(one.records(), one.without(None, ()), here, limit, 1_000.0),
        nearby(other.records(), other.without(None, ()), here, limit, 1_000.0),
    )


@pytest.mark.untraced
def test_more_ties_than_fit_are_cut_where_the_file_cuts_them(both: tuple[Store, Store]) -> None:
    """Two thousand equal memories, and one that is better and came last."""
    known = {
        "words": ["tea", "milk"], "tags": [], "session": "", "position": None, "created_at": NOW,
        "valid_from": None, "expires_at": None, "place": None, "vectors": None,
    }  # fmt: skip
    entries = [entry(number, "ties", known) for number in range(2_000)]
    entries.append(entry(2_000, "ties", {**known, "words": ["tea", "tea"]}))
    query = LexicalQuery({"tea": 1.0, "milk": 1.0}, {"content": 1.0})
    for store in both:
        store.add(entries)
    with both[0].view("ties", NOW) as one, both[1].view("ties", NOW) as other:
        for limit in (1, 2, 50):
            same(one.search(query, limit), other.search(query, limit))
