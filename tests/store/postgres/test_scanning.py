"""Many vectors are compared with a namespace at once as they are one by one."""

import numpy as np
import pytest

from memorata.store.conformance import DIMENSION, EMBEDDER, HERE, NOW, entry
from memorata.store.port import Expecting, Floats
from memorata.store.postgres import scanning, view
from memorata.store.postgres.store import PostgresStore


def directions(count: int, seed: int) -> Floats:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    units: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


@pytest.fixture
def full(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> PostgresStore:
    """Forty memories of one passage or two, some without any and some hidden, in chunks of seven."""
    monkeypatch.setattr(scanning, "_AT_ONCE", 7)
    store.use_embedder(EMBEDDER, DIMENSION)
    rows = directions(80, 1)
    store.add(
        [
            entry(f"m{number}", "tea", None if number % 9 == 0 else rows[2 * number :][: 1 + number % 2])
            for number in range(40)
        ]
    )
    store.forget(HERE, ["m3", "m38"], NOW)
    return store


def test_what_is_expected_is_what_would_have_been_found(full: PostgresStore) -> None:
    aims = directions(5, 2)
    with full.view(HERE, NOW) as one, full.view(HERE, NOW) as other:
        assert isinstance(other, Expecting)
        other.expect(aims, 16, 6)
        for aim in aims:
            alone, together = one.nearest(aim, 16), other.nearest(aim, 16)
            assert together.slots.tolist() == alone.slots.tolist()
            assert together.scores == pytest.approx(alone.scores, abs=1e-6)
            assert together.exact
            assert other.cosines(aim, alone.slots) == pytest.approx(one.cosines(aim, alone.slots), abs=1e-6)


def test_what_was_expected_is_not_asked_for_again(
    full: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    aims = directions(5, 3)
    with full.view(HERE, NOW) as look:
        look.expect(aims, 16, 6)
        monkeypatch.setattr(type(look._connection), "rows", None)
        for aim in aims:
            found = look.nearest(aim, 16)
            look.records(found.slots)
            look.memories(found.slots[:6])
            look.cosines(aim, found.slots)


def test_a_namespace_much_larger_than_the_batch_is_not_sent(
    full: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "WORTH", 1)
    aims = directions(5, 4)
    with full.view(HERE, NOW) as look:
        look.expect(aims, 16, 6)
        assert not look._expected
        assert look.nearest(aims[0], 3).slots.size == 3


def test_nothing_is_near_where_nobody_has_a_vector(store: PostgresStore) -> None:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("m0", "tea")])
    aims = directions(2, 5)
    with store.view(HERE, NOW) as look:
        look.expect(aims, 16, 6)
        assert look.nearest(aims[0], 3).slots.size == 0
