"""Memories that supersede others, and what was believed when."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.rank.bm25 import ContextWindow
from memorata.store.memory.repeats import Repeat
from memorata.store.store import Store
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    THERE,
    direction,
    entry,
    found_ids,
    pages,
    query,
    recalled,
    words,
)


def test_a_correction_takes_the_place_of_what_it_corrects(store: Store) -> None:
    """Check the marks, what is shown, and what was believed before."""
    store.use_embedder(EMBEDDER, DIMENSION)
    later = NOW + timedelta(hours=1)
    store.add([entry("old", "tea", direction(1))])
    store.add([entry("new", "tea", direction(1), created_at=later, supersedes=("old",))])
    (old,) = store.get(HERE, ["old"])
    assert (old.superseded_by, old.valid_to, old.version) == ("new", later, 2)
    assert recalled(store) == (["new"], ["new"])
    # Clocks differ between processes: what is corrected is corrected, also for one that is behind.
    assert recalled(store, now=NOW - timedelta(days=1)) == (["new"], ["new"])
    assert list(pages(store, 5)) == ["new"]
    for as_of, believed in ((NOW - timedelta(seconds=1), []), (NOW, ["old"]), (later, ["new"])):
        assert recalled(store, as_of=as_of) == (believed, believed)


def test_only_what_is_there_and_current_can_be_superseded(store: Store) -> None:
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


def test_a_batch_may_hold_a_whole_chain(store: Store) -> None:
    """Check corrections of memories of the same batch, as an import brings them."""
    store.add(
        [
            entry("a", "tea", superseded_by="b"),
            entry("b", "tea", supersedes=("a",), superseded_by="c"),
            entry("c", "tea", supersedes=("b",)),
        ]
    )
    assert [memory.superseded_by for memory in store.get(HERE, ["a", "b", "c"])] == ["b", "c", None]
    assert recalled(store)[0] == ["c"]


def test_a_successor_counts_only_when_it_is_there(store: Store) -> None:
    """Check an import that brings the old memory without the new one."""
    store.add([entry("a", "tea", superseded_by="b")])
    assert store.get(HERE, ["a"])[0].superseded_by is None
    assert recalled(store)[0] == ["a"]


def test_a_purged_correction_gives_back_what_it_corrected(store: Store) -> None:
    """Check the end of a chain."""
    store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",))])
    store.purge(HERE, ["b"])
    (left,) = store.get(HERE, ["a"])
    assert (left.superseded_by, left.valid_to) == (None, None)
    assert recalled(store)[0] == ["a"]


def test_a_purged_link_of_a_chain_leaves_the_chain_whole(store: Store) -> None:
    """Check the middle of a chain: the oldest does not come back."""
    store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea", supersedes=("b",))])
    store.purge(HERE, ["b"])
    a, c = store.get(HERE, ["a", "c"])
    assert (a.superseded_by, c.supersedes) == ("c", ("a",))
    assert recalled(store)[0] == ["c"]
    store.purge(HERE, ["a"])
    assert store.get(HERE, ["c"])[0].supersedes == ()


def test_what_only_repeated_the_purged_held_until_its_successor_began(store: Store) -> None:
    """Check that what was said does not vanish from the past with the one of two who said it."""
    later, last = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    store.add([entry("a", "tea"), entry("again", "tea")])
    store.duplicates.repeat(HERE, [Repeat("again", "a", "exact", "said again", NOW)])
    store.add([entry("b", "milk", created_at=later, supersedes=("a",))])
    assert store.get(HERE, ["again"])[0].valid_to is None
    store.purge(HERE, ["a"])
    again, b = store.get(HERE, ["again", "b"])
    assert (again.superseded_by, again.valid_to, b.supersedes) == ("b", later, ("again",))
    with store.view(HERE, last, true_at=NOW) as view:
        assert found_ids(view, view.search(query("tea"), 10)) == ["again"]
    store.purge(HERE, ["b"])
    assert store.get(HERE, ["again"])[0].valid_to is None


def test_a_purge_takes_back_the_end_that_the_purged_gave(store: Store) -> None:
    """Check that what is current again holds again, in whatever order its successors are purged."""
    later, last = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    for number, order in enumerate((["b", "c"], ["c", "b"])):
        a, b, c = (f"{id_}{number}" for id_ in "abc")
        store.add([entry(a, "tea")])
        store.add([entry(b, "tea", created_at=later, supersedes=(a,))])
        store.add([entry(c, "tea", created_at=last, supersedes=(b,))])
        store.purge(HERE, [f"{order[0]}{number}"])
        (left,) = store.get(HERE, [a])
        assert left.valid_to == (last if order[0] == "b" else later)
        store.purge(HERE, [f"{order[1]}{number}"])
        (left,) = store.get(HERE, [a])
        assert (left.superseded_by, left.valid_to) == (None, None)
    # What had not begun when it was superseded ended as it began.
    store.add([entry("future", "tea", valid_from=last)])
    store.add([entry("present", "tea", created_at=later, supersedes=("future",))])
    assert store.get(HERE, ["future"])[0].valid_to == last
    store.purge(HERE, ["present"])
    assert store.get(HERE, ["future"])[0].valid_to is None
    # An end that it had of its own stays.
    store.add([entry("own", "tea", valid_to=last)])
    store.add([entry("other", "tea", created_at=later, supersedes=("own",))])
    store.purge(HERE, ["other"])
    assert store.get(HERE, ["own"])[0].valid_to == last
    with store.view(HERE, NOW, true_at=later) as view:
        assert view.status.count == 3


def test_what_was_superseded_held_until_its_successor_is_now_said_to_have_begun(store: Store) -> None:
    """Check that no two of a chain are true at once after one of them is found to be older."""
    later = NOW + timedelta(days=9)
    store.add([entry("a", "tea"), entry("own", "tea", valid_to=later + timedelta(days=9))])
    store.add([entry("b", "tea", created_at=later, supersedes=("a", "own"))])
    (read,) = store.get(HERE, ["b"])
    (own,) = store.get(HERE, ["own"])
    for began in (NOW + timedelta(days=3), NOW + timedelta(days=5)):
        moved = replace(read, valid_from=began)
        read = store.update(moved, read.version, lambda each: {"content": words(each.content)})
        assert store.get(HERE, ["a"])[0].valid_to == began
        assert store.get(HERE, ["own"]) == [own]
        for moment, true in ((began - timedelta(hours=1), "a"), (began, "b")):
            with store.view(HERE, later, true_at=moment) as view:
                assert set(found_ids(view, view.search(query("tea"), 10))) == {true, "own"}
    store.purge(HERE, ["b"])
    assert store.get(HERE, ["a"])[0].valid_to is None


def test_what_is_now_said_to_have_begun_earlier_still_ends_where_its_successor_began(store: Store) -> None:
    """Check one that had not begun when it was superseded, and then is found to have."""
    later, last = NOW + timedelta(days=3), NOW + timedelta(days=9)
    store.add([entry("a", "tea", valid_from=last)])
    store.add([entry("b", "tea", created_at=later, supersedes=("a",))])
    (a,) = store.get(HERE, ["a"])
    assert a.valid_to == last
    a = store.update(replace(a, valid_from=NOW), a.version, lambda each: {"content": words(each.content)})
    assert a.valid_to == store.get(HERE, ["a"])[0].valid_to == later
    for moment, true in ((later - timedelta(hours=1), ["a"]), (later, ["b"])):
        with store.view(HERE, last, true_at=moment) as view:
            assert found_ids(view, view.search(query("tea"), 10)) == true
    assert [each.end_given for each in store.hidden(HERE)] == [True]


def test_nobody_knew_of_the_end_that_a_later_successor_gave(store: Store) -> None:
    """Check what was believed to be true: an end of its own was known, one that came later was not."""
    store.use_embedder(EMBEDDER, DIMENSION)
    january, february, march, june, july = (NOW + timedelta(days=30 * month) for month in (0, 1, 2, 5, 6))
    store.add([entry("bern", "tea", direction(1)), entry("own", "tea", direction(1), valid_to=february)])
    moved = {"created_at": june, "valid_from": february}
    store.add([entry("basel", "tea", direction(1), supersedes=("bern",), **moved)])
    store.add([entry("other", "tea", direction(1), supersedes=("own",), **moved)])

    def held(true_at: datetime, as_of: datetime | None) -> set[str]:
        with store.view(HERE, july, as_of=as_of, true_at=true_at) as view:
            by_words = found_ids(view, view.search(query("tea"), 10))
            by_meaning = found_ids(view, view.search(direction(1)[0], 10))
            assert sorted(by_words) == sorted(by_meaning)
            assert view.status.count == len(by_words) == view.document_frequencies(["tea"])[1]["tea"]
            read = view.score(query("tea"), np.arange(4), ContextWindow())
            assert set(found_ids(view, read)) >= set(by_words)
            scored = dict(zip(found_ids(view, read), read.scores.tolist(), strict=True))
            assert {id_ for id_, score in scored.items() if score} == set(by_words)
            return set(by_words)

    assert held(march, None) == held(march, july) == {"basel", "other"}
    assert held(march, march) == {"bern"}
    assert held(january, march) == held(january, None) == {"bern", "own"}
    assert held(march, june) == {"basel", "other"}
    hidden = {each.memory_id: each.end_given for each in store.hidden(HERE)}
    assert hidden == {"bern": True, "own": False}
    # Its successor is found to have begun where the other ended: the one end moves, the other is its own.
    for id_ in ("basel", "other"):
        (read,) = store.get(HERE, [id_])
        later = replace(read, valid_from=march)
        store.update(later, read.version, lambda each: {"content": words(each.content)})
    assert [each.valid_to for each in store.get(HERE, ["bern", "own"])] == [march, february]
    assert held(march + timedelta(days=9), march) == {"bern"}
    # Whoever says when it ended says it for good.
    (bern,) = store.get(HERE, ["bern"])
    store.update(replace(bern, valid_to=february), bern.version)
    assert held(march, march) == set()
    store.purge(HERE, ["basel", "other"])
    assert [each.valid_to for each in store.get(HERE, ["bern", "own"])] == [february, february]
    assert store.hidden(HERE) == []


def test_no_two_of_a_chain_are_true_at_once(store: Store) -> None:
    """Check a successor that is itself corrected to have begun before, and what was believed."""
    days = [NOW + timedelta(days=30 * month) for month in range(8)]
    january, february, march, april, may, june, july, _ = days
    mid_february = february + timedelta(days=15)
    store.add([entry("bern", "tea")])
    store.add([entry("march", "tea", created_at=april, valid_from=march, supersedes=("bern",))])

    def held(true_at: datetime, as_of: datetime | None = None) -> list[str]:
        with store.view(HERE, days[-1], as_of=as_of, true_at=true_at) as view:
            return sorted(found_ids(view, view.search(query("tea"), 10)))

    assert held(mid_february) == ["bern"]
    since = {"created_at": may, "valid_from": february}
    store.add([entry("february", "tea", None, supersedes=("march",), **since)])
    assert [each.valid_to for each in store.get(HERE, ["bern", "march"])] == [february, march]
    assert held(mid_february) == held(mid_february, may) == ["february"]
    # In April it was believed to be since March, and in March nobody knew of an end.
    assert held(mid_february, april) == held(mid_february, march) == ["bern"]
    assert (held(march, april), held(march, march)) == (["march"], ["bern"])
    assert held(january, june) == ["bern"]
    # The one that was said last is found to have begun later still, and is then taken back.
    (last,) = store.get(HERE, ["february"])
    moved = replace(last, valid_from=july)
    store.update(moved, last.version, lambda each: {"content": words(each.content)})
    assert [each.valid_to for each in store.get(HERE, ["bern", "march"])] == [march, july]
    (last,) = store.get(HERE, ["february"])
    moved = replace(last, valid_from=february)
    store.update(moved, last.version, lambda each: {"content": words(each.content)})
    assert store.get(HERE, ["bern"])[0].valid_to == february
    store.purge(HERE, ["february"])
    assert [each.valid_to for each in store.get(HERE, ["bern", "march"])] == [march, None]
    run = store.duplicates.start_run(HERE, "keep_both", june)
    store.add([entry("again", "tea", created_at=june, valid_from=february)])
    store.duplicates.repeat(HERE, [Repeat("march", "again", "near", "r", june, run=run.number)])
    assert store.get(HERE, ["bern"])[0].valid_to == february
    store.duplicates.undo_run(HERE, run.number, june)
    assert store.get(HERE, ["bern"])[0].valid_to == march


def test_what_has_expired_is_not_recalled(store: Store) -> None:
    """Check the moment it expires."""
    store.add([entry("a", "tea", expires_at=NOW), entry("b", "tea", expires_at=NOW + timedelta(seconds=1))])
    assert recalled(store)[0] == ["b"]
    assert recalled(store, now=NOW + timedelta(seconds=1))[0] == []
    assert recalled(store, now=NOW - timedelta(seconds=1))[0] == ["a", "b"]
