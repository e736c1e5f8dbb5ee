import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memorata.index import vectors as module
from memorata.index.codes import Bits, Bytes
from memorata.index.vectors import byte_products, differing, products

Floats = npt.NDArray[np.float32]


@pytest.fixture(params=["simsimd", "numpy"], autouse=True, scope="module")
def kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Everything here holds with SimSIMD, and without."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(module, "simsimd", None)
        yield


def test_without_simsimd_numpy_computes_the_products() -> None:
    code = (
        "import sys; sys.modules['simsimd'] = None\n"
        "import numpy as np\n"
        "from memorata.index.vectors import products\n"
        "print(products(np.eye(2, dtype=np.float32), np.array([2, 3], np.float32)).tolist())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[2.0, 3.0]"


@pytest.mark.parametrize("dimension", [1, 1_024, 1_025, 5_000])
def test_products_of_long_rows_of_bytes_are_exact_until_the_end(dimension: int) -> None:
    rows: Bytes = np.random.default_rng(dimension).integers(-128, 128, (4_100, dimension)).astype(np.int8)
    exact = rows.astype(np.int64) @ rows[0].astype(np.int64)
    assert byte_products(rows, rows[0]).tolist() == exact.astype(np.float32).tolist()


@pytest.mark.parametrize("dimension", [1, 2, 7, 64, 65, 256, 384, 1_000])
def test_products_are_those_of_the_loop(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    rows = random.normal(size=(9, dimension)).astype(np.float32)
    query = random.normal(size=dimension).astype(np.float32)
    by_hand = [sum(float(a) * float(b) for a, b in zip(row, query, strict=True)) for row in rows]
    assert products(rows, query) == pytest.approx(by_hand, rel=1e-4, abs=1e-4)


@given(arrays(np.int8, st.tuples(st.integers(0, 9), st.integers(1, 70))), st.integers(0, 2**32 - 1))
def test_products_of_bytes_are_whole_numbers(rows: Bytes, seed: int) -> None:
    query: Bytes = np.random.default_rng(seed).integers(-127, 128, rows.shape[1:]).astype(np.int8)
    by_hand = [sum(int(a) * int(b) for a, b in zip(row, query, strict=True)) for row in rows]
    assert byte_products(rows, query).tolist() == by_hand


@given(arrays(np.uint64, st.tuples(st.integers(1, 9), st.integers(1, 7))))
def test_bits_are_counted_where_they_differ(rows: Bits) -> None:
    by_hand = [sum((int(a) ^ int(b)).bit_count() for a, b in zip(row, rows[0], strict=True)) for row in rows]
    assert differing(rows, rows[0]).tolist() == by_hand


def test_equal_rows_have_equal_products_wherever_they_stand() -> None:
    """A product over many rows at once may add up the last few of them in another order than the others."""
    random = np.random.default_rng(1)
    row, query = random.normal(size=(2, 384)).astype(np.float32)
    others: Floats = random.normal(size=(1_003, 384)).astype(np.float32)
    alone = products(row[None], query)[0]
    for count in (1, 15, 16, 17, 101, 1_003):
        others[:count:7] = row
        assert (products(others[:count], query)[::7] == alone).all()


def test_no_rows_have_no_products() -> None:
    none = np.zeros((0, 384), np.float32)
    assert products(none, np.ones(384, np.float32)).shape == (0,)
    assert byte_products(none.astype(np.int8), np.ones(384, np.int8)).shape == (0,)
    assert differing(np.zeros((0, 6), np.uint64), np.zeros(6, np.uint64)).shape == (0,)


def test_rows_in_the_middle_of_a_buffer_are_compared_as_they_stand() -> None:
    rows = np.arange(40, dtype=np.float32).reshape(10, 4)
    assert products(rows[3:5], np.ones(4, np.float32)).tolist() == [54, 70]


def test_what_lies_otherwise_in_memory_is_read_as_what_it_is() -> None:
    random = np.random.default_rng(3)
    rows = random.normal(size=(40, 32)).astype(np.float32)
    query = random.normal(size=32).astype(np.float32)
    expected = products(rows, query).tolist()
    bytes_ = np.frombuffer(b"x" + query.tobytes(), np.uint8)
    laid_out: list[Any] = [
        query[::-1].copy()[::-1],
        np.repeat(query, 2)[::2],
        query.astype(np.float64),
        query.astype(">f4"),
        bytes_[1:].view(np.float32),
        np.asfortranarray(np.tile(query, (3, 1)))[1],
    ]
    for other in laid_out:
        assert products(rows, other).tolist() == expected
    for others in (np.asfortranarray(rows), rows[::-1].copy()[::-1], np.repeat(rows, 2, axis=1)[:, ::2]):
        assert products(others, query).tolist() == expected
    words = random.integers(0, 2**63, (5, 3)).astype(np.uint64)
    counted = differing(words, words[0]).tolist()
    assert differing(np.asfortranarray(words), np.repeat(words[0], 2)[::2]).tolist() == counted
