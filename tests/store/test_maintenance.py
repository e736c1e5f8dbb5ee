"""Checks, statistics, and what is written anew."""

from collections.abc import Mapping
from dataclasses import replace

from memorata.model.memory import Memory
from memorata.store.store import Store
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, THERE, direction, entry, recalled


def test_what_can_be_written_says_so(store: Store) -> None:
    """Check that a store which is made here is not one that can only be read."""
    assert store.read_only is False


def test_settings_are_remembered(store: Store) -> None:
    """Check that the last value counts, and that any text is one."""
    assert store.setting("mine") is None
    for value in ("1", "2", "naïve \0 text"):
        store.remember_setting("mine", value)
        assert store.setting("mine") == value
    assert store.setting("yours") is None


def test_what_is_derived_is_sound_and_can_be_made_anew(store: Store) -> None:
    """Check that nothing is wrong after all kinds of writes, and that a rebuild changes no answer."""

    def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
        return entry(memory.id, memory.content, tags=memory.tags).terms

    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry(f"m{n}", f"tea {n}", direction(1, n), tags=("x",)) for n in range(300)])
    store.add([entry("new", "tea", supersedes=("m1",)), entry("b", "tea", namespace=THERE)])
    store.forget(HERE, ["m2"], NOW)
    store.purge(HERE, ["m3"])
    store.update(replace(store.get(HERE, ["m4"])[0], tags=("y",)), 1, terms_of)
    before = recalled(store)
    assert store.check(terms_of) == []
    store.rebuild(HERE, terms_of)
    store.rebuild("nobody", terms_of)
    store.vacuum()
    assert store.check(terms_of, repair=True) == []
    assert recalled(store) == before
