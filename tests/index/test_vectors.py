from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index import vectors as module
from memorata.index.codes import Codes
from memorata.index.vectors import Vectors

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def unit(rows: npt.NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


def clustered(count: int, dimension: int, seed: int = 0, clusters: int = 20) -> Floats:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(clusters, dimension))
    return unit(centres[random.integers(clusters, size=count)] + 0.6 * random.normal(size=(count, dimension)))


def brute(
    query: Floats, owners: npt.NDArray[np.int32], rows: Floats, limit: int, mask: Mask | None
) -> list[int]:
    """The obvious way: the best cosine of each slot, best first, ties by slot."""
    best: dict[int, float] = {}
    for owner, score in zip(owners.tolist(), (rows @ query).tolist(), strict=True):
        if mask is None or mask[owner]:
            best[owner] = max(score, best.get(owner, -2.0))
    return sorted(best, key=lambda slot: (-best[slot], slot))[:limit]


def filled(rows: Floats, owners: npt.NDArray[np.int32], *, exact: bool) -> Vectors:
    found = Vectors(rows.shape[1], exact=exact)
    half = len(rows) // 2
    found.add(owners[:half], rows[:half])
    if exact:
        found.add(owners[half:], rows[half:])
    else:
        found.add_codes(Codes.of(owners[half:], rows[half:]))
    return found


def search(found: Vectors, rows: Floats, query: Floats, limit: int, mask: Mask | None) -> list[int]:
    slots, cosines = found.search(query, limit, mask, lambda places: rows[places])
    assert np.all(np.diff(cosines) <= 0)
    return [int(slot) for slot in slots]


@pytest.mark.parametrize("exact", [True, False])
def test_all_of_few_are_found_in_order(exact: bool) -> None:
    rows = unit(np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]))
    found = filled(rows, np.arange(4, dtype=np.int32), exact=exact)
    query = np.array([1, 0, 0, 0], np.float32)
    slots, cosines = found.search(query, 10, None, lambda places: rows[places])
    assert slots.tolist() == [0, 3, 1, 2]
    assert cosines == pytest.approx([1, 1, 0.5**0.5, 0])


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 12), st.booleans())
def test_the_exact_search_is_the_obvious_one(seed: int, count: int, limit: int, masked: bool) -> None:
    random = np.random.default_rng(seed)
    rows = clustered(count, 8, seed)
    owners = np.sort(random.integers(0, count, size=count)).astype(np.int32)
    mask = random.random(count) < 0.5 if masked else None
    query = clustered(1, 8, seed + 1)[0]
    found = filled(rows, owners, exact=True)
    assert search(found, rows, query, limit, mask) == brute(query, owners, rows, limit, mask)


@pytest.mark.untraced
@pytest.mark.parametrize("passages", [1, 3])
def test_codes_find_what_the_exact_search_finds(passages: int) -> None:
    rows = clustered(6_000, 128)
    owners = (np.arange(6_000) // passages).astype(np.int32)
    found = filled(rows, owners, exact=False)
    hits = 0
    for seed in range(50):
        query = clustered(1, 128, seed=100 + seed, clusters=1)[0] * 0.3 + rows[seed * 97]
        query = unit(query.astype(np.float64))
        got, wanted = search(found, rows, query, 10, None), brute(query, owners, rows, 10, None)
        hits += len(set(got) & set(wanted))
    assert hits / 500 >= 0.99


@pytest.mark.parametrize("passages", [1, 3])
def test_a_rough_answer_reads_no_rows_and_is_off_by_little(passages: int) -> None:
    rows = clustered(6_000, 128)
    owners = (np.arange(6_000) // passages).astype(np.int32)
    found = filled(rows, owners, exact=False)
    query = unit(rows[97].astype(np.float64) + rows[4_000])
    slots, rough = found.search(query, 50, None, None)
    _, precise = found.search(query, 50, None, lambda places: rows[places])
    assert np.all(np.diff(rough) <= 0)
    assert np.abs(rough - precise).max() <= 2e-3
    assert rough == pytest.approx(found.cosines(query, slots), abs=1e-6)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_a_filter_never_starves_a_search_by_codes(share: float) -> None:
    rows = clustered(6_000, 64)
    owners = np.arange(6_000, dtype=np.int32)
    found = filled(rows, owners, exact=False)
    random = np.random.default_rng(3)
    for seed in range(20):
        mask = random.random(6_000) < share
        mask[:3] = True
        query = clustered(1, 64, seed)[0]
        wanted = brute(query, owners, rows, 10, mask)
        got = search(found, rows, query, 10, mask)
        assert len(got) == len(wanted)
        # What is left is few enough to be compared without codes.
        assert got == wanted


def test_the_passages_of_one_long_memory_do_not_crowd_out_the_others() -> None:
    random = np.random.default_rng(5)
    aim = unit(random.normal(size=64))
    close = unit(aim + 0.05 * random.normal(size=(5_000, 64)))
    others = unit(aim + 0.5 * random.normal(size=(300, 64)))
    rows = np.concatenate([others[:150], close, others[150:]])
    owners = np.concatenate([np.arange(150), np.full(5_000, 150), np.arange(151, 301)]).astype(np.int32)
    found = filled(rows, owners, exact=False)
    got = search(found, rows, aim, 20, None)
    assert got == brute(aim, owners, rows, 20, None)
    assert got[0] == 150


def test_nothing_is_found_among_nothing() -> None:
    nothing = Vectors(4, exact=True)
    query = np.array([1, 0, 0, 0], np.float32)
    slots, cosines = nothing.search(query, 5, None, lambda places: np.zeros((0, 4), np.float32))
    assert slots.size == cosines.size == 0
    rows = unit(np.eye(4))
    for exact in (True, False):
        for owners in ([0, 1, 2, 3], [0, 0, 1, 1]):
            found = filled(rows, np.array(owners, np.int32), exact=exact)
            assert search(found, rows, query, 0, None) == []
            assert search(found, rows, query, 5, np.zeros(4, np.bool_)) == []


def test_many_passages_are_one_slot_also_where_two_additions_meet() -> None:
    rows = unit(np.array([[1.0, 0], [0, 1], [1, 1]]))
    for exact in (True, False):
        found = Vectors(2, exact=exact)
        found.add(np.array([0], np.int32), rows[:1])
        found.add(np.array([0, 1], np.int32), rows[1:])
        assert search(found, rows, np.array([0, 1], np.float32), 5, None) == [0, 1]


def test_codes_take_a_fraction_of_the_memory() -> None:
    rows = clustered(2_000, 384)
    owners = np.arange(2_000, dtype=np.int32)
    sizes = {}
    for exact in (True, False):
        found = Vectors(384, exact=exact)
        found.reserve(2_000)
        found.add(owners, rows)
        sizes[exact] = found.nbytes
    assert sizes[True] == 2_000 * (384 * 4 + 4)
    assert sizes[False] == 2_000 * (384 + 384 // 8 + 4 + 4)


@pytest.mark.parametrize("passages", [1, 3])
@pytest.mark.parametrize("share", [None, 0.9, 0.3])
def test_bytes_leave_out_nothing_that_is_among_the_best(passages: int, share: float | None) -> None:
    count = 3 * module.MAX_FLOAT_VECTORS
    random = np.random.default_rng(11)
    # Half of them are close together, where rounding may take one for the other.
    far = clustered(count // 2, 384)
    near = unit(far[0] + 0.01 * random.normal(size=(count // 2, 384)))
    rows = np.concatenate([far, near])[random.permutation(count)]
    owners = (np.arange(count) // passages).astype(np.int32)
    mask = None if share is None else random.random(count // passages) < share
    found = filled(rows, owners, exact=True)
    for seed in range(20):
        query = unit(far[0] + 0.02 * random.normal(size=384)) if seed % 2 else clustered(1, 384, seed)[0]
        slots, cosines = found.search(query, 50, mask, None)
        everything = Vectors(384, exact=True)
        everything.add(owners, rows)
        best = _all_compared(everything, query, mask)
        assert dict(zip(slots.tolist(), cosines.tolist(), strict=True)) == dict(best[:50])
        assert cosines.tolist() == [cosine for _, cosine in best[:50]]


def _all_compared(found: Vectors, query: Floats, mask: Mask | None) -> list[tuple[int, float]]:
    slots = np.unique(found.owners.view).astype(np.intp)
    slots = slots if mask is None else slots[mask[slots]]
    pairs = zip(slots.tolist(), found.cosines(query, slots).tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def test_what_is_added_later_is_compared_as_bytes_too() -> None:
    rows = clustered(module.MAX_FLOAT_VECTORS + 600, 64)
    found = Vectors(64, exact=True)
    before = module.MAX_FLOAT_VECTORS + 300
    found.add(np.arange(before, dtype=np.int32), rows[:before])
    assert search(found, rows, rows[7], 1, None) == [7]
    found.add(np.arange(before, len(rows), dtype=np.int32), rows[before:])
    assert search(found, rows, rows[-1], 1, None) == [len(rows) - 1]


def test_room_for_bytes_is_counted_before_they_are_made() -> None:
    rows = clustered(2 * module.MAX_FLOAT_VECTORS, 64)
    found = Vectors(64, exact=True)
    found.reserve(len(rows))
    found.add(np.arange(len(rows), dtype=np.int32), rows)
    counted = found.nbytes
    assert counted == len(rows) * (4 + 64 * 4 + 64 + 4)
    search(found, rows, rows[0], 1, None)
    assert found.nbytes == counted


@pytest.mark.untraced
def test_more_are_re_scored_where_signs_say_little(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    # They all point much the same way, so that most have nearly the same signs.
    alike = unit(4 * unit(random.normal(size=64)) + 0.2 * random.normal(size=(12_000, 64)))
    owners = np.arange(12_000, dtype=np.int32)
    sizes: list[int] = []
    compared = Vectors._by_bytes

    def counted(self: Vectors, query: Any, places: Any) -> Any:
        sizes.append(places.size)
        return compared(self, query, places)

    monkeypatch.setattr(Vectors, "_by_bytes", counted)

    def found(rows: Any) -> float:
        vectors, hits = filled(rows, owners, exact=False), 0
        for seed in range(20):
            query = unit(rows[seed * 97] + 0.02 * random.normal(size=rows.shape[1]))
            hits += len(
                set(search(vectors, rows, query, 10, None)) & set(brute(query, owners, rows, 10, None))
            )
        return hits / 200

    with_more = found(alike)
    assert max(sizes) >= module.MAX_RESCORED
    monkeypatch.setattr(module, "MAX_RESCORED", module.MIN_RESCORED)
    assert found(alike) < with_more
    monkeypatch.setattr(module, "MAX_RESCORED", 4 * module.MIN_RESCORED)
    sizes.clear()
    # Where the closest stand out, the first look is enough for most questions.
    assert found(clustered(12_000, 128)) >= 0.99
    assert np.median(sizes) < 2 * module.MIN_RESCORED


def test_the_bounds_are_those_that_were_measured() -> None:
    assert (module.MAX_EXACT_VECTORS, module.MAX_FLOAT_VECTORS) == (20_000, 2_048)
    assert (module.MIN_RESCORED, module.MAX_RESCORED) == (1_000, 4_000)


def test_a_text_in_which_nothing_was_found_makes_no_other_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clustered(2 * module.MAX_FLOAT_VECTORS, 64)
    rows[5] = 0
    found = Vectors(64, exact=True)
    found.add(np.arange(len(rows), dtype=np.int32), rows)
    compared: list[int] = []
    exactly = Vectors._compared

    def counted(self: Vectors, query: Any, places: Any) -> Any:
        compared.append(len(self) if places is None else places.size)
        return exactly(self, query, places)

    monkeypatch.setattr(Vectors, "_compared", counted)
    assert search(found, rows, rows[7], 10, None)[0] == 7
    assert compared[0] < 200


def test_the_first_vector_of_each_slot_is_read_where_rows_are_kept() -> None:
    rows = clustered(6, 4)
    owners = np.array([0, 0, 2, 3, 3, 5], np.int32)
    kept = filled(rows, owners, exact=True).first_rows(np.array([3, 1, 0, 9, 5]))
    assert kept is not None
    nothing = [0.0] * 4
    assert kept.tolist() == [rows[3].tolist(), nothing, rows[0].tolist(), nothing, rows[5].tolist()]
    assert filled(rows, owners, exact=False).first_rows(np.array([3])) is None
    empty = Vectors(4, exact=True).first_rows(np.array([1]))
    assert empty is not None
    assert empty.tolist() == [nothing]
