import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memorata.index.codes import Codes, closest, coded_in, quantised, sign_bits
from memorata.index.vectors import differing, products
from memorata.model.errors import IndexCorrupt

Floats = npt.NDArray[np.float32]


def vectors(count: int, dimension: int, seed: int = 0) -> Floats:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("dimension", [1, 8, 63, 64, 65, 384])
def test_bits_differ_where_signs_differ(dimension: int) -> None:
    rows = vectors(20, dimension)
    bits = sign_bits(rows)
    assert bits.shape == (20, -(-dimension // 64))
    expected = [int(np.count_nonzero((row > 0) != (rows[0] > 0))) for row in rows]
    assert differing(bits, bits[0]).tolist() == expected


@given(arrays(np.uint16, st.integers(0, 40), elements=st.integers(0, 12)), st.integers(1, 50))
def test_the_closest_are_all_up_to_the_distance_that_makes_enough(
    distance: npt.NDArray[np.uint16], count: int
) -> None:
    chosen = closest(distance, count, 12).tolist()
    assert len(chosen) >= min(count, len(distance))
    if len(distance) > count:
        bound = sorted(distance.tolist())[count - 1]
        assert chosen == [place for place, value in enumerate(distance.tolist()) if value <= bound]


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(500, 3_000), st.booleans())
def test_a_sample_changes_nothing_about_the_closest(seed: int, count: int, size: int, ordered: bool) -> None:
    """Also where the sample misleads, as it may when the distances are in order."""
    distance = np.random.default_rng(seed).binomial(384, 0.4, size=size).astype(np.uint16)
    if ordered:
        distance.sort()
    bound = np.sort(distance)[count - 1]
    assert closest(distance, count, 384).tolist() == np.flatnonzero(distance <= bound).tolist()


def test_few_close_ones_that_no_sample_sees_are_found() -> None:
    distance = np.full(4_000, 200, np.uint16)
    distance[1:8] = 3
    assert closest(distance, 5, 384).tolist() == list(range(1, 8))


def test_bytes_are_within_half_a_step_of_the_vector() -> None:
    rows = vectors(50, 96)
    codes = quantised(rows)
    error = np.abs(codes.values * codes.scales[:, None] - rows).max(axis=1)
    assert (error <= codes.scales / 2 * 1.001).all()
    query = vectors(1, 96, seed=1)[0]
    rough = products(codes.values.astype(np.float32), query) * codes.scales
    assert np.abs(rough - rows @ query).max() < 0.01


def test_a_zero_vector_has_zero_bytes() -> None:
    codes = quantised(np.zeros((2, 4), np.float32))
    assert not codes.values.any()
    assert np.isfinite(codes.scales).all()


@pytest.mark.parametrize(("count", "dimension"), [(0, 8), (1, 64), (7, 100)])
def test_codes_come_back_from_bytes(count: int, dimension: int) -> None:
    codes = Codes.of(np.arange(count, dtype=np.int32), vectors(count, dimension))
    again = Codes.decoded(codes.encoded())
    assert np.array_equal(again.owners, codes.owners)
    assert np.array_equal(again.bits, codes.bits)
    assert np.array_equal(again.quantised.values, codes.quantised.values)
    assert np.array_equal(again.quantised.scales, codes.quantised.scales)


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(Codes.of(np.arange(3, dtype=np.int32), vectors(3, 16)).encoded())
    position = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        Codes.decoded(bytes(blob))


@pytest.mark.parametrize("cut", [0, 10, 20])
def test_a_cut_is_noticed(cut: int) -> None:
    with pytest.raises(IndexCorrupt):
        Codes.decoded(Codes.of(np.arange(3, dtype=np.int32), vectors(3, 16)).encoded()[:cut])


def test_joined_codes_are_those_of_all_vectors_whose_owner_is_kept() -> None:
    rows = vectors(6, 16)
    owners = np.array([10, 10, 11, 13, 14, 14], np.int32)
    parts = [Codes.of(owners[:3], rows[:3]), Codes.of(owners[3:], rows[3:])]
    kept = np.array([True, False, True, True, False])  # slots 10 to 14
    joined = Codes.joined(parts, kept, first=10)
    left = np.array([0, 1, 3])
    assert joined.encoded() == Codes.of(owners[left], rows[left]).encoded()


def test_the_length_of_codes_says_how_many_vectors_they_are_of() -> None:
    blob = Codes.of(np.arange(3, dtype=np.int32), np.ones((3, 70), np.float32)).encoded()
    assert coded_in(len(blob), 70) == 3
