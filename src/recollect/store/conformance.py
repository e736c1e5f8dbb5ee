"""What every store promises, as a public test suite.

Subclass it in a test module and give it a fixture called ``store``, empty and of its own for each test::

    class TestMine(StoreConformance):
        @pytest.fixture
        def store(self) -> Iterator[Store]:
            ...

pytest then runs every method that begins with ``test_``. Expectations are exact, ties included, so that two
stores which pass give the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from recollect.duplicates.fingerprint import fingerprint
from recollect.index.lexical import LexicalQuery
from recollect.model.errors import DimensionMismatch, InvalidArgument, MemoryNotFound, VersionConflict
from recollect.model.memory import Memory, Source, Tier
from recollect.model.place import Place
from recollect.rank.bm25 import BM25
from recollect.store.access_conformance import AccessConformance
from recollect.store.embedding_conformance import EmbeddingConformance
from recollect.store.filters import parse
from recollect.store.learning_conformance import LearningConformance
from recollect.store.leases_conformance import LeasesConformance
from recollect.store.naming_conformance import NamingConformance
from recollect.store.port import Entry, Floats, Found, Hidden, Store, View
from recollect.store.repeats_conformance import RepeatsConformance

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
EMBEDDER = "conformance"
DIMENSION = 8
HERE, THERE = "acme/alice", "acme/bob"
SCORER = BM25(1.2, 0.75)


def words(text: str) -> dict[str, int]:
    """Return the words of a text, lower case, and how often each occurs.

    Examples
    --------
    >>> words("Tea, tea and milk")
    {'tea,': 1, 'tea': 1, 'and': 1, 'milk': 1}
    """
    found = text.lower().split()
    return {word: found.count(word) for word in dict.fromkeys(found)}


def direction(*components: float) -> Floats:
    """Return one unit row with these first components.

    Examples
    --------
    >>> direction(3, 4)[0, :2].tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    row = np.zeros((1, DIMENSION))
    row[0, : len(components)] = components
    return (row / np.linalg.norm(row)).astype(np.float32)


def entry(id: str, content: str, vectors: Floats | None = None, **fields: Any) -> Entry:  # noqa: ANN401
    """Return an entry whose words are those of its content and tags, as :func:`words` reads them."""
    usual: dict[str, Any] = {"namespace": HERE, "created_at": NOW, "fingerprint": fingerprint(content)}
    memory = Memory(id=id, content=content, **(usual | fields))
    terms = {"content": words(content)}
    if memory.tags:
        terms["tags"] = words(" ".join(memory.tags))
    digest = b"" if vectors is None else f"digest of {content}".encode()
    return Entry(memory, terms, vectors, digest)


def query(*terms: str, excluded: Sequence[str] = (), **fields: float) -> LexicalQuery:
    """Return a query for terms of equal weight, in the content unless fields and their weights are given."""
    wanted = dict.fromkeys(terms, 1.0)
    return LexicalQuery(wanted, fields or {"content": 1.0}, tuple(excluded), SCORER)


def found_ids(view: View, found: Found) -> list[str]:
    """Return the ids of what a leg found, in its order."""
    return [memory.id for memory in view.memories(found.slots)]


class StoreConformance(
    LearningConformance,
    NamingConformance,
    AccessConformance,
    EmbeddingConformance,
    RepeatsConformance,
    LeasesConformance,
):
    """The suite."""

    # --- what goes in comes out -----------------------------------------------------------------------

    def test_a_memory_comes_back_as_it_was(self, store: Store) -> None:
        """Check every field, exactly."""
        given = Memory(
            id="m1",
            content="Zoë wrote: «naïve» 👩‍🚀 \0 שלום\nand more.",
            created_at=datetime(2026, 5, 7, 1, 2, 3, 456_789, tzinfo=UTC),
            namespace=HERE,
            category="event",
            tier=Tier.PROCEDURAL,
            confidence=0.1,
            importance=1 / 3,
            tags=("tea", "日本"),
            metadata={"a": {"b": [1, None, True, 0.1, "\0"]}, "n": 2**70},
            source=Source("Anna", "s1", 3, "https://example.org/1"),
            entities=("Zoë",),
            place=Place(-89.5, 179.25, "somewhere"),
            valid_from=datetime(1, 1, 1, tzinfo=UTC),
            valid_to=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            expires_at=NOW + timedelta(days=1),
            pinned=True,
            mentions=2,
            supported_at=NOW - timedelta(days=2),
            access_count=3,
            last_accessed_at=NOW,
            version=4,
            fingerprint="ab" * 16,
            embedder="e",
        )
        store.add([Entry(given, {"content": {"wrote": 1}})])
        assert store.get(HERE, ["m1"]) == [given]
        assert list(store.export(None)) == [given]

    def test_get_keeps_the_order_and_refuses_what_nobody_has(self, store: Store) -> None:
        """Check order and errors of reading by id."""
        store.add([entry("a", "tea"), entry("b", "milk")])
        assert [memory.id for memory in store.get(HERE, ["b", "a"])] == ["b", "a"]
        for namespace, ids in ((HERE, ["a", "x"]), (THERE, ["a"]), ("nobody", ["a"])):
            with pytest.raises(MemoryNotFound):
                store.get(namespace, ids)
        assert store.known([(HERE, "a"), (HERE, "x"), (THERE, "a")]) == {(HERE, "a")}

    def test_a_batch_is_written_whole_or_not_at_all(self, store: Store) -> None:
        """Check that one bad entry leaves nothing of the others."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("taken", "tea")])
        wrong = np.ones((1, DIMENSION + 1), np.float32)
        broken = np.full((1, DIMENSION), np.nan, np.float32)
        bad: list[tuple[Entry, type[Exception]]] = [
            (entry("taken", "again"), InvalidArgument),
            (entry("new", "twice in the batch"), InvalidArgument),
            (entry("w", "wrong dimension", wrong), DimensionMismatch),
            (entry("n", "not a number", broken), InvalidArgument),
            (entry("e", "no passages", np.zeros((0, DIMENSION), np.float32)), InvalidArgument),
            (entry("s", "supersedes nothing", supersedes=("nobody",)), MemoryNotFound),
            (entry("p", "a huge number", source=Source(position=2**40)), InvalidArgument),
        ]
        before = store.changes(0, 100)
        for last, error in bad:
            with pytest.raises(error):
                store.add([entry("new", "first"), entry("elsewhere", "x", namespace=THERE), last])
            assert store.namespaces() == {HERE: 1}
            assert store.changes(0, 100) == before
        with store.view(HERE, NOW) as view:
            assert view.count == 1
            assert found_ids(view, view.lexical(query("first", "tea"), 10)) == ["taken"]

    def test_vectors_need_an_embedder(self, store: Store) -> None:
        """Check that vectors of nobody knows whom are refused."""
        with pytest.raises(InvalidArgument):
            store.add([entry("a", "tea", direction(1))])

    def test_an_embedder_keeps_its_dimension(self, store: Store) -> None:
        """Check that one name is one length of vectors."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.use_embedder(EMBEDDER, DIMENSION)
        with pytest.raises(InvalidArgument):
            store.use_embedder(EMBEDDER, DIMENSION + 1)

    # --- listing --------------------------------------------------------------------------------------

    def test_pages_show_everything_once_newest_first(self, store: Store) -> None:
        """Check cursors, also while memories are added and removed between two pages."""
        store.add(
            [entry(f"m{number}", "tea", namespace=(HERE, THERE)[number % 3 == 2]) for number in range(20)]
        )
        wanted = [f"m{number}" for number in reversed(range(20)) if number % 3 != 2]
        for limit in (1, 3, len(wanted), 100):
            assert list(_pages(store, limit)) == wanted
        first = store.page(HERE, None, 5, None, hidden=False)
        store.add([entry("later", "tea")])
        store.purge(HERE, [wanted[4], wanted[7]])
        rest = store.page(HERE, None, 100, first.cursor, hidden=False)
        assert [memory.id for memory in rest.memories] == [*wanted[5:7], *wanted[8:]]
        assert rest.cursor is None

    def test_a_page_of_nothing(self, store: Store) -> None:
        """Check limits and namespaces that leave nothing, and cursors nobody gave."""
        assert store.page("nobody", None, 5, None, hidden=True).memories == ()
        store.add([entry("a", "tea")])
        assert store.page(HERE, None, 0, None, hidden=True).memories == ()
        for cursor in ("x", "-1", "", "9" * 40, "9" * 5_000, "1.5"):
            with pytest.raises(InvalidArgument):
                store.page(HERE, None, 5, cursor, hidden=True)

    def test_a_filter_selects_in_pages_and_in_views(self, store: Store) -> None:
        """Check that both give the memories that pass, and only those."""
        store.add([entry(f"m{n}", "tea", metadata={"n": n}, tags=("even",) * (n % 2 == 0)) for n in range(9)])
        even = parse({"tags": "even", "metadata.n": {">": 2}})
        assert list(_pages(store, 2, even)) == ["m8", "m6", "m4"]
        with store.view(HERE, NOW, filter=even) as view:
            assert view.count == 3
            assert found_ids(view, view.lexical(query("tea"), 10)) == ["m4", "m6", "m8"]

    # --- changing -------------------------------------------------------------------------------------

    def test_an_update_counts_versions_and_loses_nothing(self, store: Store) -> None:
        """Check optimistic concurrency."""
        store.add([entry("a", "tea")])
        (read,) = store.get(HERE, ["a"])
        written = store.update(replace(read, confidence=0.5, metadata={"seen": 1}), read.version)
        assert written == replace(read, confidence=0.5, metadata={"seen": 1}, version=read.version + 1)
        assert store.get(HERE, ["a"]) == [written]
        with pytest.raises(VersionConflict):
            store.update(replace(read, confidence=0.1), read.version)
        with pytest.raises(MemoryNotFound):
            store.update(replace(read, id="x"), 1)
        with store.view(HERE, NOW) as view:
            (slot,) = view.lexical(query("tea"), 1).slots
            assert view.records(np.array([slot]))["confidence"][0] == 0.5

    def test_an_update_cannot_change_what_was_said(self, store: Store) -> None:
        """Check that words, time and chains are left to corrections."""
        store.add([entry("a", "tea"), entry("b", "milk")])
        (read,) = store.get(HERE, ["a"])
        changes: list[Mapping[str, Any]] = [
            {"content": "coffee"},
            {"tags": ("x",)},
            {"entities": ("x",)},
            {"source": Source("x")},
            {"created_at": NOW + timedelta(1)},
            {"valid_from": NOW - timedelta(1)},
            {"supersedes": ("b",)},
            {"superseded_by": "b"},
        ]
        for change in changes:
            with pytest.raises(InvalidArgument):
                store.update(replace(read, **change), read.version)
        assert store.get(HERE, ["a"]) == [read]

    def test_an_update_with_words_is_found_by_the_new_ones(self, store: Store) -> None:
        """Check that tags are searched as they are now, among few memories and among many."""

        def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
            return entry(memory.id, memory.content, tags=memory.tags).terms

        def tagged(term: str) -> list[str]:
            with store.view(HERE, NOW) as view:
                return found_ids(view, view.lexical(query(term, tags=1.0), 9))

        store.add([entry("a", "tea", tags=("drink",)), entry("b", "milk", tags=("drink",))])
        for round_ in range(2):
            version = store.get(HERE, ["a"])[0].version
            (read,) = store.get(HERE, ["a"])
            written = store.update(replace(read, tags=("leaf", "leaf"), confidence=0.5), version, terms_of)
            assert (written.tags, written.version) == (("leaf", "leaf"), version + 1)
            assert (tagged("leaf"), tagged("drink")) == (["a"], ["b"])
            store.update(replace(written, tags=()), written.version, terms_of)
            assert (tagged("leaf"), tagged("drink")) == ([], ["b"])
            (bare,) = store.get(HERE, ["a"])
            store.update(replace(bare, tags=("drink",)), bare.version, terms_of)
            assert sorted(tagged("drink")) == ["a", "b"]
            with pytest.raises(InvalidArgument):
                store.update(replace(bare, content="coffee"), bare.version + 1, terms_of)
            if not round_:
                store.add([entry(f"m{number}", "something else") for number in range(600)])

    def test_a_use_is_counted_with_its_time(self, store: Store) -> None:
        """Check that uses add up, that the latest one is kept, and that all are counted or none."""
        later = NOW + timedelta(days=1)
        store.add([entry("a", "tea"), entry("b", "milk")])
        store.use(HERE, ["a", "b"], later)
        store.use(HERE, ["a"], NOW)
        used, once = store.get(HERE, ["a", "b"])
        assert (used.access_count, used.last_accessed_at, used.version) == (2, later, 3)
        assert (once.access_count, once.last_accessed_at, once.version) == (1, later, 2)
        with pytest.raises(MemoryNotFound):
            store.use(HERE, ["a", "nobody"], later)
        assert store.get(HERE, ["a"]) == [used]
        with store.view(HERE, NOW) as view:
            assert view.records(view.lexical(query("tea"), 1).slots)["accesses"].tolist() == [2]

    def test_what_is_forgotten_is_hidden_until_it_is_restored(self, store: Store) -> None:
        """Check forget and restore, twice each."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("a", "tea", direction(1)), entry("b", "tea", direction(1, 1))])
        for _ in range(2):
            store.forget(HERE, ["a"], NOW)
            assert _recalled(store) == (["b"], ["b"])
            assert list(_pages(store, 5)) == ["b"]
            assert list(_pages(store, 5, hidden=True)) == ["b", "a"]
        assert [memory.id for memory in store.get(HERE, ["a"])] == ["a"]
        for _ in range(2):
            store.restore(HERE, ["a"])
            assert _recalled(store) == (["a", "b"], ["a", "b"])
        with pytest.raises(MemoryNotFound):
            store.forget(HERE, ["a", "nobody"], NOW)
        with pytest.raises(MemoryNotFound):
            store.restore(HERE, ["a", "nobody"])
        assert _recalled(store) == (["a", "b"], ["a", "b"])

    def test_since_when_something_is_hidden_can_be_told_and_said_again(self, store: Store) -> None:
        """Check the times of forgetting and superseding, and a memory that comes from another database."""
        later, before = NOW + timedelta(days=1), NOW - timedelta(days=1)
        store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea")])
        store.forget(HERE, ["c"], later)
        said = store.get(HERE, ["b"])[0].created_at
        assert store.hidden(HERE) == [Hidden("a", None, said), Hidden("c", later, None)]
        assert store.hidden("elsewhere") == []
        store.hide(HERE, [Hidden("a", before, before), Hidden("b", None, None)])
        assert store.hidden(HERE) == [Hidden("a", before, before), Hidden("c", later, None)]
        with pytest.raises(InvalidArgument, match="superseded_at must be left out for a current memory"):
            store.hide(HERE, [Hidden("b", NOW, None), Hidden("c", None, NOW)])
        with pytest.raises(MemoryNotFound):
            store.hide(HERE, [Hidden("b", NOW, None), Hidden("nobody", NOW, None)])
        assert store.hidden(HERE) == [Hidden("a", before, before), Hidden("c", later, None)]
        store.hide(HERE, [Hidden("b", NOW, None)])
        assert list(_pages(store, 5)) == []

    def test_what_is_purged_is_gone_everywhere(self, store: Store) -> None:
        """Check rows, words, vectors, the cache and the feed."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("secret-id", "secret tea", direction(1)), entry("b", "tea", direction(1, 1))])
        with pytest.raises(MemoryNotFound):
            store.purge(HERE, ["secret-id", "nobody"])
        assert store.namespaces() == {HERE: 2}
        store.purge(HERE, ["secret-id"])
        assert _recalled(store) == (["b"], ["b"])
        assert store.namespaces() == {HERE: 1}
        assert [memory.id for memory in store.export(HERE)] == ["b"]
        assert store.cached_vectors([b"digest of secret tea"]) == {}
        assert all(change.memory_id != "secret-id" for change in store.changes(0, 100))
        with store.view(HERE, NOW) as view:
            assert view.document_frequencies(["secret", "tea"]) == (1, {"secret": 0, "tea": 1})
        with pytest.raises(MemoryNotFound):
            store.get(HERE, ["secret-id"])
        store.add([entry("secret-id", "the name is free again")])

    # --- corrections ----------------------------------------------------------------------------------

    def test_a_correction_takes_the_place_of_what_it_corrects(self, store: Store) -> None:
        """Check the marks, what is shown, and what was believed before."""
        store.use_embedder(EMBEDDER, DIMENSION)
        later = NOW + timedelta(hours=1)
        store.add([entry("old", "tea", direction(1))])
        store.add([entry("new", "tea", direction(1), created_at=later, supersedes=("old",))])
        (old,) = store.get(HERE, ["old"])
        assert (old.superseded_by, old.valid_to, old.version) == ("new", later, 2)
        assert _recalled(store) == (["new"], ["new"])
        # Clocks differ between processes: what is corrected is corrected, also for one that is behind.
        assert _recalled(store, now=NOW - timedelta(days=1)) == (["new"], ["new"])
        assert list(_pages(store, 5)) == ["new"]
        for as_of, believed in ((NOW - timedelta(seconds=1), []), (NOW, ["old"]), (later, ["new"])):
            assert _recalled(store, as_of=as_of) == (believed, believed)

    def test_only_what_is_there_and_current_can_be_superseded(self, store: Store) -> None:
        """Check that chains neither fork nor close."""
        store.add([entry("a", "tea")])
        store.add([entry("b", "tea", supersedes=("a",))])
        with pytest.raises(InvalidArgument):
            store.add([entry("c", "tea", supersedes=("a",))])
        with pytest.raises(InvalidArgument):
            store.add([entry("x", "tea", supersedes=("y",)), entry("y", "tea", supersedes=("x",))])
        with pytest.raises(MemoryNotFound):
            store.add([entry("d", "tea", namespace=THERE, supersedes=("b",))])
        assert store.namespaces() == {HERE: 2}

    def test_a_batch_may_hold_a_whole_chain(self, store: Store) -> None:
        """Check corrections of memories of the same batch, as an import brings them."""
        store.add(
            [
                entry("a", "tea", superseded_by="b"),
                entry("b", "tea", supersedes=("a",), superseded_by="c"),
                entry("c", "tea", supersedes=("b",)),
            ]
        )
        assert [memory.superseded_by for memory in store.get(HERE, ["a", "b", "c"])] == ["b", "c", None]
        assert _recalled(store)[0] == ["c"]

    def test_a_successor_counts_only_when_it_is_there(self, store: Store) -> None:
        """Check an import that brings the old memory without the new one."""
        store.add([entry("a", "tea", superseded_by="b")])
        assert store.get(HERE, ["a"])[0].superseded_by is None
        assert _recalled(store)[0] == ["a"]

    def test_a_purged_correction_gives_back_what_it_corrected(self, store: Store) -> None:
        """Check the end of a chain."""
        store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",))])
        store.purge(HERE, ["b"])
        (left,) = store.get(HERE, ["a"])
        assert (left.superseded_by, left.valid_to) == (None, None)
        assert _recalled(store)[0] == ["a"]

    def test_a_purged_link_of_a_chain_leaves_the_chain_whole(self, store: Store) -> None:
        """Check the middle of a chain: the oldest does not come back."""
        store.add(
            [entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea", supersedes=("b",))]
        )
        store.purge(HERE, ["b"])
        a, c = store.get(HERE, ["a", "c"])
        assert (a.superseded_by, c.supersedes) == ("c", ("a",))
        assert _recalled(store)[0] == ["c"]
        store.purge(HERE, ["a"])
        assert store.get(HERE, ["c"])[0].supersedes == ()

    def test_what_has_expired_is_not_recalled(self, store: Store) -> None:
        """Check the moment it expires."""
        store.add(
            [entry("a", "tea", expires_at=NOW), entry("b", "tea", expires_at=NOW + timedelta(seconds=1))]
        )
        assert _recalled(store)[0] == ["b"]
        assert _recalled(store, now=NOW + timedelta(seconds=1))[0] == []
        assert _recalled(store, now=NOW - timedelta(seconds=1))[0] == ["a", "b"]

    # --- words ----------------------------------------------------------------------------------------

    def test_words_are_scored_by_bm25_over_what_may_be_seen(self, store: Store) -> None:
        """Check scores by hand, and that hidden memories count for nothing."""
        store.add(
            [
                entry("a", "tea tea milk cup"),
                entry("b", "tea cup cup cup"),
                entry("c", "cup cup cup cup"),
                entry("hidden", "tea " * 50),
            ]
        )
        store.forget(HERE, ["hidden"], NOW)
        with store.view(HERE, NOW) as view:
            found = view.lexical(query("tea"), 10)
            assert found_ids(view, found) == ["a", "b"]
            idf = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
            assert found.scores == pytest.approx([idf * 2 * 2.2 / (2 + 1.2), idf * 2.2 / (1 + 1.2)])
            assert view.document_frequencies(["tea", "cup", "none"]) == (3, {"tea": 2, "cup": 3, "none": 0})

    def test_fields_have_lists_and_weights_of_their_own(self, store: Store) -> None:
        """Check that a field of weight 0 is not looked at, and that weights multiply."""
        store.add([entry("a", "tea milk"), entry("b", "cup milk", tags=("tea",))])
        with store.view(HERE, NOW) as view:
            assert found_ids(view, view.lexical(query("tea"), 10)) == ["a"]
            assert found_ids(view, view.lexical(query("tea", tags=1.0, content=0.0), 10)) == ["b"]
            single, double = (view.lexical(query("tea", tags=weight), 10).scores[0] for weight in (1.0, 2.0))
            assert double == pytest.approx(2 * single)
            assert view.document_frequencies(["tea"], field="tags") == (2, {"tea": 1})

    def test_equal_scores_keep_the_order_of_writing(self, store: Store) -> None:
        """Check ties, also where the limit cuts through them and between two terms."""
        names = [f"m{number}" for number in range(12)]
        store.add([entry(name, ("milk", "tea")[number % 2]) for number, name in enumerate(names)])
        with store.view(HERE, NOW) as view:
            for terms in (("tea", "milk"), ("milk", "tea")):
                for limit in (1, 5, 12):
                    assert found_ids(view, view.lexical(query(*terms), limit)) == names[:limit]

    def test_excluded_words_exclude(self, store: Store) -> None:
        """Check that a memory with an excluded word in its content is not found, however good it is."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("a", "tea coffee"), entry("b", "tea cup"), entry("c", "coffee", tags=("tea",))])
        store.add([entry(f"d{n}", "coffee", direction(1)) for n in range(20)])
        store.add([entry("e", "tea", direction(1, 1)), entry("f", "milk", tags=("coffee",))])
        with store.view(HERE, NOW) as view:
            found = view.lexical(query("tea", "coffee", excluded=["coffee"]), 10)
            assert found_ids(view, found) == ["e", "b"]
            # The exclusion counts before anything is selected: nearer ones cannot take all the room.
            assert found_ids(view, view.nearest(direction(1)[0], 3, ["coffee"])) == ["e"]

    def test_details_add_up_and_outlive_the_view(self, store: Store) -> None:
        """Check that an explanation says what was true when it was asked for, whatever is written later."""
        store.add([entry("a", "tea milk"), entry("b", "tea tea cup cup cup")])
        with store.view(HERE, NOW) as view:
            found = view.lexical(query("tea", "milk"), 10)
            ids = found_ids(view, found)
            assert found.detail is not None
            before = found.detail(found.slots)
        assert before.scores.tolist() == found.scores.tolist()
        assert before.names == ("tea in content", "milk in content")
        store.purge(HERE, ["a"])
        store.add([entry("c", "tea " * 9)])
        assert _recalled(store)[0] == ["c", "b"]
        after = found.detail(found.slots)
        assert ids == ["a", "b"]
        assert after.parts.tolist() == before.parts.tolist()

    # --- meaning --------------------------------------------------------------------------------------

    def test_the_nearest_are_those_of_a_brute_force(self, store: Store) -> None:
        """Check cosines, several passages, ties and limits, with a filter and without."""
        store.use_embedder(EMBEDDER, DIMENSION)
        random = np.random.default_rng(0)
        entries = []
        for number in range(60):
            rows = random.normal(size=(1 + number % 3, DIMENSION))
            rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
            entries.append(entry(f"m{number}", "tea", rows, metadata={"third": number % 3}))
        entries += [replace(entries[5], memory=replace(entries[5].memory, id="twin"))]
        store.add(entries)
        for condition in (None, {"metadata.third": 1}, {"id": {"in": ["m7", "m8"]}}):
            passing = [
                each
                for each in entries
                if condition is None
                or ("id" in condition and each.memory.id in ("m7", "m8"))
                or ("id" not in condition and each.memory.metadata["third"] == 1)
            ]
            for _ in range(5):
                aim = direction(*random.normal(size=DIMENSION))[0]
                best = [float((each.vectors @ aim).max()) for each in passing if each.vectors is not None]
                order = sorted(range(len(best)), key=lambda place: (-best[place], place))[:10]
                with store.view(HERE, NOW, filter=parse(condition)) as view:
                    found = view.nearest(aim, 10)
                    assert found_ids(view, found) == [passing[place].memory.id for place in order]
                    assert found.scores == pytest.approx([best[place] for place in order], abs=1e-6)
                    assert view.cosines(aim, found.slots) == pytest.approx(found.scores, abs=1e-6)
                    rough = view.nearest(aim, 10, rough=True)
                    assert rough.scores == pytest.approx(found.scores, abs=2e-3)

    def test_first_passages_are_given_back(self, store: Store) -> None:
        """Check the vectors that diversity compares; zeros for a memory that has none."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("a", "tea", np.concatenate([direction(1), direction(0, 1)])), entry("b", "tea")])
        with store.view(HERE, NOW) as view:
            slots = view.lexical(query("tea"), 10).slots
            assert view.vectors(slots).tolist() == [direction(1)[0].tolist(), [0.0] * DIMENSION]
            assert view.cosines(direction(0, 1)[0], slots).tolist() == [1.0, 0.0]
            assert view.pending == 1

    def test_vectors_of_two_embedders_are_never_compared(self, store: Store) -> None:
        """Check that old vectors wait, and answer again when their embedder comes back."""
        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry("a", "tea", direction(1))])
        store.use_embedder("another", DIMENSION)
        with store.view(HERE, NOW) as view:
            assert view.nearest(direction(1)[0], 10).slots.size == 0
            assert view.pending == 1
            assert found_ids(view, view.lexical(query("tea"), 10)) == ["a"]
        assert store.cached_vectors([b"digest of tea"]) == {}
        store.add([entry("b", "tea", direction(1))])
        with store.view(HERE, NOW) as view:
            assert found_ids(view, view.nearest(direction(1)[0], 10)) == ["b"]
        store.use_embedder(EMBEDDER, DIMENSION)
        with store.view(HERE, NOW) as view:
            assert found_ids(view, view.nearest(direction(1)[0], 10)) == ["a"]
            assert view.pending == 1

    def test_vectors_are_found_by_the_address_of_their_text(self, store: Store) -> None:
        """Check the cache, which crosses namespaces because equal texts have equal vectors."""
        store.use_embedder(EMBEDDER, DIMENSION)
        both = np.concatenate([direction(1), direction(0, 1)])
        store.add([entry("a", "tea", both, namespace=THERE)])
        known = store.cached_vectors([b"digest of tea", b"digest of milk"])
        assert {digest: rows.tolist() for digest, rows in known.items()} == {b"digest of tea": both.tolist()}

    # --- isolation, the feed, and the rest ------------------------------------------------------------

    def test_namespaces_do_not_see_each_other(self, store: Store) -> None:
        """Check hits, statistics and scores against a namespace that stands alone."""
        store.use_embedder(EMBEDDER, DIMENSION)
        mine = [entry("a", "tea milk", direction(1)), entry("b", "cup", direction(1, 1))]
        store.add(mine)
        with store.view(HERE, NOW) as view:
            before = view.lexical(query("tea", "cup"), 10)
        noise = [entry(f"n{number}", "tea cup", direction(1), namespace=THERE) for number in range(30)]
        store.add([noise[0], entry("c", "unrelated", direction(0, 1)), *noise[1:]])
        store.purge(HERE, ["c"])
        with store.view(HERE, NOW) as view:
            after = view.lexical(query("tea", "cup"), 10)
            assert found_ids(view, after) == ["b", "a"]
            assert after.scores == pytest.approx(before.scores)
            assert found_ids(view, view.nearest(direction(1)[0], 100)) == ["a", "b"]
            assert view.document_frequencies(["tea"]) == (2, {"tea": 1})
        with store.view("acme", NOW) as view:
            assert view.count == 0

    def test_a_namespace_nobody_has_is_empty(self, store: Store) -> None:
        """Check every question to nothing."""
        store.use_embedder(EMBEDDER, DIMENSION)
        nothing = np.zeros(0, np.intp)
        with store.view("nobody", NOW, filter=parse({"category": "fact"})) as view:
            assert (view.count, view.pending) == (0, 0)
            assert view.nearest(direction(1)[0], 10).slots.size == 0
            assert view.lexical(query("tea"), 10).slots.size == 0
            assert view.document_frequencies(["tea"]) == (0, {"tea": 0})
            assert view.memories(nothing) == []
            assert view.vectors(nothing).shape == (0, DIMENSION)
            assert view.records(nothing).shape == (0,)
        assert store.namespaces() == {}

    def test_the_feed_tells_every_change_once_in_order(self, store: Store) -> None:
        """Check numbers, kinds and reading on."""
        store.add([entry("a", "tea"), entry("b", "milk", namespace=THERE)])
        last = store.add([entry("c", "tea", supersedes=("a",))])
        store.forget(HERE, ["c"], NOW)
        store.restore(HERE, ["c"])
        store.update(replace(store.get(HERE, ["c"])[0], confidence=0.5), 1)
        feed = store.changes(0, 100)
        assert [(change.kind, change.namespace, change.memory_id) for change in feed] == [
            ("add", HERE, "a"),
            ("add", THERE, "b"),
            ("add", HERE, "c"),
            ("supersede", HERE, "a"),
            ("forget", HERE, "c"),
            ("restore", HERE, "c"),
            ("update", HERE, "c"),
        ]
        numbers = [change.number for change in feed]
        assert numbers == sorted(set(numbers))
        assert last == numbers[3]
        assert store.changes(numbers[1], 2) == feed[2:4]
        assert store.changes(numbers[-1], 10) == []

    def test_a_namespace_can_be_removed_and_made_anew(self, store: Store) -> None:
        """Check that nothing of it is left, that others are untouched, and that its name is free again."""
        store.use_embedder(EMBEDDER, DIMENSION)
        entries = [entry(f"m{number}", "tea", direction(1), tags=("drink",)) for number in range(300)]
        store.add([*entries, entry("b", "tea", namespace=THERE)])
        store.describe_entity(HERE, "Zoë", type="person")
        assert _recalled(store)[0] != []
        assert store.purge_namespace(HERE) == 300
        assert store.namespaces() == {THERE: 1}
        assert (_recalled(store), store.entities(HERE), store.naming(HERE)) == (([], []), [], 0)
        assert store.graph_news(HERE, 5).kinds
        for namespace in (HERE, "nobody"):
            with pytest.raises(InvalidArgument):
                store.purge_namespace(namespace)
        last = store.changes(0, 10_000)[-1].number
        store.add([entry("new", "tea", direction(1))])
        assert store.changes(last, 10)[0].number == last + 1
        assert (_recalled(store), store.namespaces()) == ((["new"], ["new"]), {HERE: 1, THERE: 1})
        assert store.graph_news(HERE, last - 1).kinds
        assert store.graph_news(HERE, store.changes(0, 10_000)[-1].number).kinds == frozenset()

    def test_settings_are_remembered(self, store: Store) -> None:
        """Check that the last value counts, and that any text is one."""
        assert store.setting("mine") is None
        for value in ("1", "2", "naïve \0 text"):
            store.remember_setting("mine", value)
            assert store.setting("mine") == value
        assert store.setting("yours") is None

    def test_what_is_derived_is_sound_and_can_be_made_anew(self, store: Store) -> None:
        """Check that nothing is wrong after all kinds of writes, and that a rebuild changes no answer."""

        def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
            return entry(memory.id, memory.content, tags=memory.tags).terms

        store.use_embedder(EMBEDDER, DIMENSION)
        store.add([entry(f"m{n}", f"tea {n}", direction(1, n), tags=("x",)) for n in range(300)])
        store.add([entry("new", "tea", supersedes=("m1",)), entry("b", "tea", namespace=THERE)])
        store.forget(HERE, ["m2"], NOW)
        store.purge(HERE, ["m3"])
        store.update(replace(store.get(HERE, ["m4"])[0], tags=("y",)), 1, terms_of)
        before = _recalled(store)
        assert store.check(terms_of) == []
        store.rebuild(HERE, terms_of)
        store.rebuild("nobody", terms_of)
        store.vacuum()
        assert store.check(terms_of, repair=True) == []
        assert _recalled(store) == before

    def test_everything_can_be_carried_away_and_counted(self, store: Store) -> None:
        """Check the export, the namespaces and the counts."""
        store.add([entry("a", "tea"), entry("b", "milk", namespace=THERE), entry("c", "tea")])
        store.forget(HERE, ["a"], NOW)
        assert [memory.id for memory in store.export(None)] == ["a", "b", "c"]
        assert [memory.id for memory in store.export(HERE)] == ["a", "c"]
        assert store.namespaces() == {HERE: 2, THERE: 1}
        assert store.statistics()["memories"] == 3


def _pages(store: Store, limit: int, filter: Any = None, *, hidden: bool = False) -> Iterator[str]:  # noqa: ANN401
    cursor = None
    while True:
        page = store.page(HERE, filter, limit, cursor, hidden=hidden)
        assert len(page.memories) <= limit
        yield from (memory.id for memory in page.memories)
        cursor = page.cursor
        if cursor is None:
            return


def _recalled(
    store: Store, now: datetime = NOW, as_of: datetime | None = None
) -> tuple[list[str], list[str]]:
    """Return what is found by the word "tea" and by the first direction."""
    with store.view(HERE, now, as_of=as_of) as view:
        by_words = found_ids(view, view.lexical(query("tea"), 10))
        return by_words, found_ids(view, view.nearest(direction(1)[0], 10))
