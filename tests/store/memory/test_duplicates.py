"""Repeats, runs over duplicates, and contradictions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.dedupe.fingerprint import fingerprint
from memorata.dedupe.wording import statement_key
from memorata.index.lexical import LexicalQuery
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory, Source
from memorata.store.entries import Entry, Hidden
from memorata.store.memory.repeats import Contradiction, Linked, Repeat
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_LATER = _NOW + timedelta(days=2)
_HERE, _THERE = "acme/alice", "acme/bob"


def _entry(id: str, content: str, **fields: Any) -> Entry:
    usual: dict[str, Any] = {"namespace": _HERE, "created_at": _NOW, "fingerprint": fingerprint(content)}
    return Entry(Memory(id=id, content=content, **(usual | fields)), {"content": {content: 1}})


def _repeat(id: str, of: str, **fields: Any) -> Repeat:
    return Repeat(id, of, "exact", "said again", _LATER, **fields)


def _seen(store: Store, at: datetime, *, as_of: datetime | None = None) -> int:
    with store.view(_HERE, at, as_of=as_of) as view:
        return view.status.count


def test_visible_memories_are_found_by_their_statement(store: Store) -> None:
    """Check that hidden memories, turns of transcripts and other namespaces do not count."""
    key = statement_key("tea")
    assert store.same(_HERE, [key], _NOW) == {}
    store.add(
        [
            _entry("a", "tea"),
            _entry("b", "The tea."),
            _entry("c", "tea", namespace=_THERE),
            _entry("d", "tea", source=Source(speaker="Anna", session="s", position=0)),
            _entry("e", "tea", source=Source(speaker="Anna", session="s")),
            _entry("f", "tea", expires_at=_NOW),
            _entry("g", "tea"),
            _entry("h", "milk"),
            _entry("i", "tea", source=Source(session="notes.md", position=3)),
        ]
    )
    store.forget(_HERE, ["g"], _NOW)
    found = store.same(_HERE, [key, statement_key("milk"), statement_key("beer")], _NOW)
    assert {each: [memory.id for memory in these] for each, these in found.items()} == {
        key: ["a", "b", "e", "i"],
        statement_key("milk"): ["h"],
    }


def test_a_repeat_of_an_older_memory_is_linked_by_its_own_row(store: Store) -> None:
    """Check both ends, the notes, what may be seen, and that nothing is lost."""
    store.add([_entry("a", "tea", confidence=0.5), _entry("b", "tea", created_at=_LATER)])
    assert _seen(store, _LATER) == 2
    note = _repeat("b", "a", mentions=1, confidence=0.55, supported_at=_LATER)
    store.duplicates.repeat(_HERE, [note])
    a, b = store.get(_HERE, ["a", "b"])
    assert (a.mentions, a.confidence, a.supported_at, a.supersedes) == (2, 0.55, _LATER, ())
    assert (b.superseded_by, b.valid_to) == ("a", None)
    assert (_seen(store, _LATER), _seen(store, _LATER, as_of=_NOW)) == (1, 1)
    assert store.duplicates.repeats(_HERE) == store.duplicates.repeats(_HERE, of=["a"]) == [note]
    assert store.duplicates.repeats(_HERE, of=["b"]) == store.duplicates.repeats(_THERE) == []
    assert [memory.id for memory in store.duplicates.replaced(_HERE, ["a"])] == ["b"]
    assert list(store.same(_HERE, [statement_key("tea")], _LATER).values()) == [[a]]


def test_a_repeat_of_a_younger_memory_is_listed_and_held_until_that(store: Store) -> None:
    """Check that it is linked as a correction is."""
    store.add([_entry("a", "tea"), _entry("b", "tea", created_at=_LATER)])
    store.duplicates.repeat(_HERE, [_repeat("a", "b", mentions=1)])
    a, b = store.get(_HERE, ["a", "b"])
    assert (a.superseded_by, a.valid_to, b.supersedes, b.mentions) == ("b", _LATER, ("a",), 2)
    assert b.supported_at is None
    assert _seen(store, _LATER, as_of=_NOW) == 1


def test_chains_cannot_come_back_to_where_they_began(store: Store) -> None:
    """Check that both ends must be current, and two; and that an error leaves nothing behind."""
    store.add([_entry("a", "tea"), _entry("b", "tea"), _entry("c", "tea")])
    store.duplicates.repeat(_HERE, [_repeat("b", "a")])
    before = store.get(_HERE, ["a", "b", "c"])
    for again in (("a", "b"), ("b", "a"), ("b", "c"), ("a", "a")):
        with pytest.raises(InvalidArgument):
            store.duplicates.repeat(_HERE, [_repeat("c", "a"), _repeat(*again)])
    assert store.get(_HERE, ["a", "b", "c"]) == before
    store.duplicates.repeat(_HERE, [_repeat("a", "c")])
    assert [memory.superseded_by for memory in store.get(_HERE, ["a", "b", "c"])] == ["c", "a", None]


def test_what_repeats_a_superseded_memory_comes_in_as_it_was(store: Store) -> None:
    """Check an import: what was said again does not come back because what it repeats was corrected."""
    store.add(
        [
            _entry("rome", "rome", superseded_by="paris"),
            _entry("paris", "paris", supersedes=("rome",)),
            _entry("again", "rome", superseded_by="rome"),
        ]
    )
    store.add([_entry("third", "rome", superseded_by="rome")])
    store.add([_entry("fourth", "rome", superseded_by="again")])
    found = store.get(_HERE, ["rome", "paris", "again", "third", "fourth"])
    assert [each.superseded_by for each in found] == ["paris", None, "rome", "rome", "again"]
    assert _seen(store, _LATER) == 1


def test_what_comes_in_makes_no_circle(store: Store) -> None:
    """Check memories that say they supersede what leads to them."""
    store.add(
        [
            _entry("a", "tea", superseded_by="b"),
            _entry("b", "tea", supersedes=("a",)),
            _entry("c", "tea", supersedes=("b",), superseded_by="a"),
        ]
    )
    found = store.get(_HERE, ["a", "b", "c"])
    assert [each.superseded_by for each in found] == ["b", "c", None]


def test_a_repeat_that_comes_from_elsewhere_has_its_note(store: Store) -> None:
    """Check that another store tells of it, older and younger ones, and that a note stays as it is."""
    store.add([_entry("a", "tea", mentions=3), _entry("b", "green tea", superseded_by="a", mentions=2)])
    store.add([_entry("c", "milk"), _entry("d", "milk!", supersedes=("c",))])
    told = [Hidden("b", None, _LATER, False, "near"), Hidden("c", None, _LATER, True, "exact")]
    store.hide(_HERE, told)
    assert store.hidden(_HERE) == told
    notes = store.duplicates.repeats(_HERE)
    assert [(each.memory_id, each.of, each.kind, each.at, each.mentions, each.run) for each in notes] == [
        ("b", "a", "near", _LATER, 2, None),
        ("c", "d", "exact", _LATER, 1, None),
    ]
    assert store.get(_HERE, ["a"])[0].mentions == 3
    store.hide(_HERE, [Hidden("b", None, _NOW, False, "exact"), Hidden("c", None, _LATER)])
    assert store.duplicates.repeats(_HERE) == notes
    with pytest.raises(InvalidArgument, match="repeat must be one of"):
        store.hide(_HERE, [Hidden("b", None, _NOW, False, "alike")])
    store.duplicates.relink(_HERE, [Linked("b", "d", _LATER)])
    assert store.hidden(_HERE)[0] == Hidden("b", None, _LATER, False, None)
    store.hide(_HERE, [Hidden("b", None, _LATER, False, "near")])
    assert store.hidden(_HERE)[0] == Hidden("b", None, _LATER, False, "near")


def test_links_become_those_of_another_store(store: Store) -> None:
    """Check links that come, go and turn round, in one transaction."""
    store.add([_entry("a", "tea"), _entry("b", "tea"), _entry("c", "tea", valid_to=_LATER)])
    store.duplicates.relink(
        _HERE, [Linked("c", "b", _LATER), Linked("b", supersedes=("a",)), Linked("a", "b", _LATER)]
    )
    a, b, c = store.get(_HERE, ["a", "b", "c"])
    assert [each.superseded_by for each in (a, b, c)] == ["b", None, "b"]
    assert (a.valid_to, c.valid_to, b.supersedes) == (None, _LATER, ("a",))
    assert {each.memory_id: each.superseded_at for each in store.hidden(_HERE)} == {
        "a": _LATER,
        "c": _LATER,
    }
    assert (_seen(store, _LATER), _seen(store, _LATER, as_of=_NOW)) == (1, 3)
    store.duplicates.relink(_HERE, [Linked("b", "a", _LATER), Linked("a", supersedes=("c",)), Linked("c")])
    assert [each.superseded_by for each in store.get(_HERE, ["a", "b", "c"])] == [None, "a", None]
    assert _seen(store, _LATER) == 2
    before = store.get(_HERE, ["a", "b", "c"])
    for wrong in (
        [Linked("a", "b", _LATER)],
        [Linked("c", "a", _LATER), Linked("a", "c", _LATER)],
        [Linked("a", "a", _LATER)],
        [Linked("c"), Linked("a", "nobody", _LATER)],
        [Linked("a", supersedes=("nobody",))],
    ):
        with pytest.raises((InvalidArgument, MemoryNotFound)):
            store.duplicates.relink(_HERE, wrong)
    assert store.get(_HERE, ["a", "b", "c"]) == before
    with pytest.raises(InvalidArgument):
        Linked("a", superseded_by="b")


def test_a_run_is_gone_on_with_and_taken_back(store: Store) -> None:
    """Check that everything is as it was, but for what happened since."""
    with pytest.raises(InvalidArgument):
        store.duplicates.start_run(_HERE, "merge", _NOW)
    store.add([_entry(name, "tea", confidence=0.5) for name in "abcd"])
    before = store.get(_HERE, ["a", "b", "c", "d"])
    run = store.duplicates.start_run(_HERE, "merge", _NOW)
    store.duplicates.repeat(_HERE, [_repeat("b", "a", mentions=1, confidence=0.6, run=run.number)])
    assert store.duplicates.start_run(_HERE, "merge", _LATER) == replace(run, repeats=1)
    store.duplicates.repeat(_HERE, [_repeat("a", "c", mentions=2, run=run.number)])
    store.duplicates.finish_run(_HERE, run.number, _LATER)
    (kept,) = store.duplicates.runs(_HERE)
    assert kept == replace(run, finished_at=_LATER, repeats=2)
    assert store.duplicates.runs(_THERE) == []
    undone = store.duplicates.undo_run(_HERE, run.number, _LATER)
    # The repeat that was made last is taken back first, so that the chain comes apart from its end.
    assert [memory.id for memory in undone.reinstated] == ["a", "b"]
    assert undone.left == ()
    after = store.get(_HERE, ["a", "b", "c", "d"])
    assert [replace(memory, version=1) for memory in after] == before
    assert store.duplicates.repeats(_HERE) == []
    for number in (run.number, 0, 2**63, 2**70):
        with pytest.raises(InvalidArgument, match=f"was not undone yet, got {number}"):
            store.duplicates.undo_run(_HERE, number, _LATER)
    assert store.duplicates.start_run(_HERE, "merge", _LATER).number != run.number


def test_what_stays_takes_over_what_only_the_repeat_has_until_that_is_undone(store: Store) -> None:
    """Check that it is found by the tags of a repeat until that is undone, or purged."""

    def terms_of(memory: Memory) -> dict[str, dict[str, int]]:
        words = {"content": dict.fromkeys(memory.content.split(), 1)}
        return words | {"tags": dict.fromkeys(memory.tags, 1)} if memory.tags else words

    def said(id: str, **fields: Any) -> Entry:
        entry = _entry(id, "tea", **fields)
        return replace(entry, terms=terms_of(entry.memory))

    def tagged(*tags: str) -> list[list[str]]:
        found = []
        with store.view(_HERE, _LATER) as view:
            for tag in tags:
                slots = view.search(LexicalQuery({tag: 1.0}, {"tags": 1.0}), 9).slots
                found.append([memory.id for memory in view.memories(slots)])
        return found

    place, soon = Place(1.0, 2.0, "Rome"), _LATER + timedelta(days=1)
    store.add(
        [
            said("a", tags=("x",), expires_at=soon, entities=("Anna",)),
            said("b", tags=("y", "x"), place=place, entities=("ANNA", "Ben")),
            said("c", tags=("y", "z"), expires_at=soon, pinned=True),
            said("d", tags=("w",)),
        ]
    )
    (before,) = store.get(_HERE, ["a"])
    run = store.duplicates.start_run(_HERE, "keep_both", _LATER)
    store.duplicates.repeat(_HERE, [_repeat("b", "a", run=run.number)], terms_of)
    store.duplicates.repeat(_HERE, [_repeat("c", "a")], terms_of)
    (after,) = store.get(_HERE, ["a"])
    assert (after.tags, after.entities) == (("x", "y", "z"), ("Anna", "Ben"))
    assert (after.place, after.pinned, after.expires_at) == (place, True, None)
    assert tagged("x", "y", "z", "w") == [["a"], ["a"], ["a"], ["d"]]
    store.duplicates.undo_run(_HERE, run.number, _LATER, terms_of)
    (left,) = store.get(_HERE, ["a"])
    assert (left.tags, left.entities, left.place) == (("x", "y", "z"), ("Anna",), None)
    assert (left.pinned, left.expires_at) == (True, None)
    assert [sorted(each) for each in tagged("x", "y", "z")] == [["a", "b"], ["a", "b"], ["a"]]
    store.purge(_HERE, ["c"], (), terms_of)
    (alone,) = store.get(_HERE, ["a"])
    assert replace(alone, version=before.version) == before
    assert tagged("x", "y", "z") == [["a", "b"], ["b"], []]
    # What is set right is not taken over, and without words nothing is.
    store.duplicates.repeat(_HERE, [Repeat("d", "a", "correction", "r", _LATER)], terms_of)
    store.duplicates.repeat(_HERE, [_repeat("b", "a")])
    assert store.get(_HERE, ["a"])[0].tags == ("x",)
    store.purge(_HERE, ["a", "b"], (), terms_of)
    assert store.check(terms_of) == []


def test_an_end_that_was_said_since_outlives_the_undoing(store: Store) -> None:
    """Check that only the end goes that the run gave."""
    store.add([_entry("a", "tea"), _entry("b", "tea"), _entry("c", "tea", created_at=_LATER)])
    run = store.duplicates.start_run(_HERE, "keep_both", _LATER)
    store.duplicates.repeat(_HERE, [_repeat(each, "c", run=run.number) for each in "ab"])
    a, b = store.get(_HERE, ["a", "b"])
    assert (a.valid_to, b.valid_to) == (_LATER, _LATER)
    soon = _NOW + timedelta(days=1)
    store.update(replace(a, valid_to=soon), a.version)
    store.duplicates.undo_run(_HERE, run.number, _LATER)
    assert [each.valid_to for each in store.get(_HERE, ["a", "b"])] == [soon, None]


def test_what_was_corrected_since_stays_superseded(store: Store) -> None:
    """Check that undoing brings back nothing that a correction has overtaken."""
    store.add([_entry("a", "tea"), _entry("b", "tea")])
    run = store.duplicates.start_run(_HERE, "merge", _NOW)
    store.duplicates.repeat(_HERE, [_repeat("b", "a", run=run.number)])
    store.add([_entry("c", "coffee", supersedes=("a",))])
    undone = store.duplicates.undo_run(_HERE, run.number, _LATER)
    assert undone.reinstated == ()
    assert [memory.id for memory in undone.left] == ["b"]


def test_notes_go_with_the_memories_they_are_about(store: Store) -> None:
    """Check that a purge of either end leaves no note, and shows what was hidden by it."""
    store.add([_entry(name, "tea") for name in "abc"])
    store.duplicates.repeat(_HERE, [_repeat("b", "a"), _repeat("c", "a")])
    store.contradictions.note(_HERE, [Contradiction("b", "a", "value", "r", _NOW)])
    store.purge(_HERE, ["b"])
    assert [note.memory_id for note in store.duplicates.repeats(_HERE)] == ["c"]
    assert store.contradictions.list(_HERE, settled=True) == []
    store.purge(_HERE, ["a"])
    assert store.duplicates.repeats(_HERE) == []
    (again,) = store.get(_HERE, ["c"])
    assert again.superseded_by is None
    assert store.same(_HERE, [statement_key("tea")], _NOW) == {statement_key("tea"): [again]}


def test_contradictions_are_noted_once_and_decided_once(store: Store) -> None:
    """Check the order, what is open, and that a decision against the older one supersedes it."""
    store.add([_entry(name, name, created_at=_NOW + timedelta(days=day)) for day, name in enumerate("abc")])
    first = Contradiction("b", "a", "value", "another city", _NOW)
    second = Contradiction("c", "b", "number", "another number", _NOW)
    store.contradictions.note(_HERE, [first, second, replace(first, reason="again")])
    assert store.contradictions.list(_HERE) == [first, second]
    assert store.contradictions.list(_HERE, id="a") == [first]
    assert store.contradictions.list(_THERE) == []
    compatible = replace(
        first, verdict="compatible", decided_by="x", decided_because="two homes", decided_at=_LATER
    )
    store.contradictions.settle(_HERE, compatible)
    assert store.contradictions.list(_HERE) == [second]
    assert store.get(_HERE, ["a"])[0].superseded_by is None
    with pytest.raises(InvalidArgument):
        store.contradictions.settle(_HERE, compatible)
    decided = replace(second, verdict="contradicts", decided_by="x", decided_at=_LATER)
    store.contradictions.settle(_HERE, decided)
    b, c = store.get(_HERE, ["b", "c"])
    assert (b.superseded_by, b.valid_to, c.supersedes) == ("c", c.created_at, ("b",))
    assert store.contradictions.list(_HERE, settled=True) == [compatible, decided]
