from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.cells import Cells
from memorata.model.errors import IndexCorrupt


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
