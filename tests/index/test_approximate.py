import sys
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.index import approximate as module
from memorata.index.approximate import (
    Approximate,
    Cells,
    cell_count,
    extended,
    is_available,
    sample_size,
    trained,
)
from memorata.index.vectors import Vectors
from memorata.model.errors import IndexCorrupt, MissingExtra

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Owners = npt.NDArray[np.int32]

DIMENSION = 64


def unit(rows: npt.NDArray[np.floating]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


def clustered(count: int, seed: int = 0) -> Floats:
    """Vectors around a hundred centres; those of another seed lie around the same."""
    centres = np.random.default_rng(99).normal(size=(100, DIMENSION))
    random = np.random.default_rng(seed)
    return unit(centres[random.integers(100, size=count)] + 0.7 * random.normal(size=(count, DIMENSION)))


def built(rows: Floats, owners: Owners) -> Cells:
    cells = trained(rows[: sample_size(len(rows))], len(rows))
    half = len(rows) // 2
    blocks = [(owners[:half], rows[:half]), (owners[half:], rows[half:])]
    return extended(cells, blocks, int(owners[-1]) + 1)


def indexed(rows: Floats, owners: Owners, cells: Cells) -> Vectors:
    found = Vectors(DIMENSION, exact=False)
    found.add(owners, rows)
    found.use_approximate(Approximate(cells))
    return found


def brute(query: Floats, owners: Owners, rows: Floats, limit: int, mask: Mask | None) -> list[int]:
    """The obvious way: the best cosine of each slot, best first, ties by slot."""
    best: dict[int, float] = {}
    for owner, score in zip(owners.tolist(), (rows @ query).tolist(), strict=True):
        if mask is None or mask[owner]:
            best[owner] = max(score, best.get(owner, -2.0))
    return sorted(best, key=lambda slot: (-best[slot], slot))[:limit]


ROWS = clustered(10_000)
ONE_EACH = np.arange(10_000, dtype=np.int32)
QUESTIONS = clustered(12, seed=7)


@cache
def cells_of_all() -> Cells:
    return built(ROWS, ONE_EACH)


def recall(
    found: Vectors, rows: Floats, owners: Owners, mask: Mask | None, limit: int = 20
) -> tuple[float, int]:
    """The share of the true answers that is found, and the fewest answers that ever came back."""
    hits, fewest = 0, limit
    for query in QUESTIONS:
        slots, cosines = found.search(query, limit, mask, lambda places: rows[places])
        assert np.all(np.diff(cosines) <= 0)
        assert len(set(slots.tolist())) == slots.size
        if mask is not None:
            assert mask[slots].all()
        best = np.array([(rows[owners == slot] @ query).max() for slot in slots[:3]])
        assert cosines[:3] == pytest.approx(best, abs=1e-6)
        hits += len(set(slots.tolist()) & set(brute(query, owners, rows, limit, mask)))
        fewest = min(fewest, slots.size)
    return hits / (limit * len(QUESTIONS)), fewest


def test_cells_are_about_twice_the_root_and_never_nearly_empty() -> None:
    assert cell_count(10_000) == 2 * 100
    assert sample_size(10_000) == 40 * 200
    assert len(cells_of_all().sizes) == 200
    assert cells_of_all().sizes.sum() == 10_000
    assert sorted(cells_of_all().slots.tolist()) == list(range(10_000))


@pytest.mark.untraced
def test_it_finds_what_the_exact_search_finds() -> None:
    found, fewest = recall(indexed(ROWS, ONE_EACH, cells_of_all()), ROWS, ONE_EACH, None)
    assert found >= 0.99
    assert fewest == 20


@pytest.mark.untraced
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
def test_a_filter_never_starves(share: float) -> None:
    mask = np.random.default_rng(5).random(10_000) < share
    found, fewest = recall(indexed(ROWS, ONE_EACH, cells_of_all()), ROWS, ONE_EACH, mask)
    assert found >= 0.99
    assert fewest == 20


def test_a_filter_that_lets_little_through_is_left_to_the_scan() -> None:
    ready = Approximate(cells_of_all())
    few, many = np.zeros(10_000, np.bool_), np.zeros(10_000, np.bool_)
    few[:4_900], many[:5_100] = True, True
    assert ready.slots(QUESTIONS[0], 100, few) is None
    found = ready.slots(QUESTIONS[0], 100, many)
    assert found is not None
    assert many[found].all()


def test_what_is_allowed_may_lie_elsewhere() -> None:
    """Everything about the question is forbidden, in far more cells than are read."""
    found = indexed(ROWS, ONE_EACH, cells_of_all())
    for query in QUESTIONS[:10]:
        products = ROWS @ query
        mask = products < np.quantile(products, 0.4)
        slots, _ = found.search(query, 20, mask, lambda places: ROWS[places])
        assert slots.size == 20
        assert mask[slots].all()


def test_too_few_in_the_cells_that_are_read_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBES", 1)
    ready = Approximate(cells_of_all())
    assert ready.slots(QUESTIONS[0], int(cells_of_all().sizes.max()) + 1, None) is None


@pytest.mark.untraced
def test_passages_bring_each_memory_once() -> None:
    owners = np.sort(np.random.default_rng(3).integers(0, 4_000, 10_000)).astype(np.int32)
    found, fewest = recall(indexed(ROWS, owners, built(ROWS, owners)), ROWS, owners, None)
    assert found >= 0.99
    assert fewest == 20


def test_one_long_memory_does_not_crowd_out_the_rest() -> None:
    """A thousand passages of one memory are closest: the scan has to find the others."""
    query = QUESTIONS[0]
    random = np.random.default_rng(1)
    long = unit(query + 0.02 * random.normal(size=(1_000, DIMENSION)))
    rows = np.concatenate([ROWS, long])
    owners = np.concatenate([ONE_EACH, np.full(1_000, 10_000, np.int32)])
    found = indexed(rows, owners, built(rows, owners))
    slots, _ = found.search(query, 20, None, lambda places: rows[places])
    assert slots.size == 20
    assert slots[0] == 10_000
    assert len(set(slots.tolist()) & set(brute(query, owners, rows, 20, None))) >= 19


def test_what_was_added_since_is_found() -> None:
    found = indexed(ROWS, ONE_EACH, cells_of_all())
    found.add(np.arange(10_000, 10_012, dtype=np.int32), QUESTIONS)
    for number, query in enumerate(QUESTIONS):
        slots, cosines = found.search(query, 5, None, None)
        assert slots[0] == 10_000 + number
        assert cosines[0] == pytest.approx(1, abs=0.01)
        mask = np.ones(10_012, np.bool_)
        mask[10_000 + number] = False
        assert 10_000 + number not in found.search(query, 5, mask, None)[0]


def test_what_was_embedded_late_is_found() -> None:
    """Slot 100 had no vector when the index was made, and has one now."""
    known = np.delete(ONE_EACH, 100)
    found = indexed(ROWS, ONE_EACH, built(ROWS[known], known))
    assert found.search(ROWS[100], 3, None, None)[0][0] == 100


def test_what_was_purged_is_not_found() -> None:
    gone = np.arange(0, 10_000, 3)
    left = np.setdiff1d(ONE_EACH, gone).astype(np.int32)
    ready = Approximate(cells_of_all().without(gone))
    assert len(ready) == left.size
    found = Vectors(DIMENSION, exact=False)
    found.add(left, ROWS[left])
    found.use_approximate(ready)
    for query in QUESTIONS[:10]:
        slots, _ = found.search(query, 20, None, lambda places: ROWS[left[places]])
        truth = brute(query, left, ROWS[left], 20, None)
        assert len(set(slots.tolist()) & set(truth)) >= 19


def test_an_index_of_slots_that_nobody_owns_any_more_is_harmless() -> None:
    """Purged in the store since it was loaded: the slots are found, and have no vectors."""
    left = ONE_EACH[ONE_EACH % 3 != 0]
    found = Vectors(DIMENSION, exact=False)
    found.add(left, ROWS[left])
    found.use_approximate(Approximate(cells_of_all()))
    slots, _ = found.search(QUESTIONS[0], 20, None, lambda places: ROWS[left[places]])
    assert (slots % 3 != 0).all()
    assert slots.size == 20


def test_more_vectors_are_sorted_into_the_same_cells() -> None:
    half = extended(trained(ROWS[: sample_size(10_000)], 10_000), [(ONE_EACH[:4_000], ROWS[:4_000])], 4_000)
    whole = extended(half, [(ONE_EACH[4_000:], ROWS[4_000:]), (ONE_EACH[:0], ROWS[:0])], 10_000)
    assert (half.until, whole.until) == (4_000, 10_000)
    assert np.array_equal(whole.centres, half.centres)
    assert sorted(whole.slots.tolist()) == list(range(10_000))
    assert whole.encoded() == cells_of_all().encoded()


def test_what_was_written_is_searched_alike() -> None:
    read = Approximate(Cells.decoded(cells_of_all().encoded()))
    for query in QUESTIONS[:5]:
        before = Approximate(cells_of_all()).slots(query, 100, None)
        after = read.slots(query, 100, None)
        assert before is not None
        assert after is not None
        assert before.tolist() == after.tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 12), st.booleans())
def test_a_small_index_is_never_wrong(seed: int, count: int, limit: int, masked: bool) -> None:
    """All cells of a few vectors are read, or the scan takes its place: either way it is the exact answer."""
    random = np.random.default_rng(seed)
    rows = clustered(count, seed)
    owners = np.sort(random.integers(0, count, size=count)).astype(np.int32)
    mask = random.random(count) < 0.5 if masked else None
    query = clustered(1, seed + 1)[0]
    found = indexed(rows, owners, built(rows, owners))
    slots, _ = found.search(query, limit, mask, lambda places: rows[places])
    assert slots.tolist() == brute(query, owners, rows, limit, mask)


def test_codes_of_another_version_of_the_library_are_not_read() -> None:
    other = replace(cells_of_all(), maker="faiss 0.1")
    with pytest.raises(IndexCorrupt, match=r"made by faiss 0.1, and this is faiss \d+\.\d+"):
        Approximate(other)


def test_codes_of_another_width_are_not_read() -> None:
    other = replace(cells_of_all(), codes=cells_of_all().codes[:, :5])
    with pytest.raises(IndexCorrupt, match="do not have 16 bytes each"):
        Approximate(other)


def test_an_empty_index_finds_nothing_and_leaves_it_to_the_scan() -> None:
    empty = cells_of_all().without(ONE_EACH)
    found = indexed(ROWS, ONE_EACH, empty)
    assert found.search(ROWS[3], 1, None, None)[0].tolist() == [3]


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[ann\]'"):
        Approximate(cells_of_all())


def test_the_library_is_installed_for_these_checks() -> None:
    assert is_available()


def cells(seed: int = 0, count: int = 12) -> Cells:
    random = np.random.default_rng(seed)
    cell = np.sort(random.integers(0, 3, count))
    return Cells(
        "faiss 1.15",
        random.normal(size=(3, 8)).astype(np.float32),
        np.bincount(cell, minlength=3).astype(np.int32),
        random.integers(0, 20, count).astype(np.int32),
        random.integers(0, 256, (count, 9)).astype(np.uint8),
        count,
        20,
    )


@given(st.integers(0, 1000), st.integers(0, 30))
def test_what_is_written_is_read_again(seed: int, count: int) -> None:
    written = cells(seed, count)
    read = Cells.decoded(written.encoded())
    assert (read.maker, read.trained, read.until) == ("faiss 1.15", count, 20)
    for name in ("centres", "sizes", "slots", "codes"):
        assert np.array_equal(getattr(read, name), getattr(written, name))


@given(st.data())
def test_any_changed_byte_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(cells().encoded())
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(IndexCorrupt):
        Cells.decoded(bytes(blob))


@pytest.mark.parametrize("length", [0, 10, 100, -1])
def test_a_part_is_noticed(length: int) -> None:
    with pytest.raises(IndexCorrupt, match=r"cut short|checksum"):
        Cells.decoded(cells().encoded()[:length])


def test_a_later_version_is_not_read() -> None:
    blob = bytearray(cells().encoded())
    blob[0] = 2
    with pytest.raises(IndexCorrupt, match="unknown version 2"):
        Cells.decoded(bytes(blob))


@given(st.integers(0, 1000), st.sets(st.integers(0, 20)))
def test_what_is_taken_out_leaves_the_rest_in_its_cells(seed: int, gone: set[int]) -> None:
    before = cells(seed, 30)
    after = before.without(np.array(sorted(gone), np.int64))
    cell = np.repeat(np.arange(3), before.sizes)
    kept = [row for row in range(30) if before.slots[row] not in gone]
    assert after.slots.tolist() == before.slots[kept].tolist()
    assert np.array_equal(after.codes, before.codes[kept])
    assert np.repeat(np.arange(3), after.sizes).tolist() == cell[kept].tolist()


def test_the_maker_has_a_short_name() -> None:
    with pytest.raises(ValueError, match="at most 15 letters"):
        replace(cells(), maker="a library with a long name").encoded()
