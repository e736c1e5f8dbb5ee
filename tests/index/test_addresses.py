"""Sorted runs of hashes and places, against lists that are gone through one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.addresses import Addresses
from memorata.model.errors import IndexCorrupt

Pairs = list[tuple[int, int]]
FEW = st.integers(-3, 3)
LARGE = st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1])
PAIRS = st.lists(st.tuples(FEW | LARGE, st.integers(0, 4) | st.just(2**63 - 1)), max_size=30)


def run_of(pairs: Pairs) -> Addresses:
    keys, places = np.array(pairs, np.int64).reshape(-1, 2).T
    return Addresses.of(keys, places)


def listed(run: Addresses) -> Pairs:
    return list(zip(run.keys.tolist(), run.places.tolist(), strict=True))


@given(PAIRS)
def test_a_run_is_in_order(pairs: Pairs) -> None:
    assert listed(run_of(pairs)) == sorted(pairs)
    assert len(run_of(pairs)) == len(pairs)


@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_joined_runs_say_everything_once(parts: list[Pairs]) -> None:
    once = [run_of(sorted(set(part))) for part in parts]
    assert listed(Addresses.joined(once)) == sorted(set().union(*parts))


@given(PAIRS, st.lists(FEW | LARGE, max_size=8), st.none() | st.integers(1, 3))
def test_what_is_found_has_one_of_the_wanted_hashes(
    pairs: Pairs, wanted: list[int], most: int | None
) -> None:
    run = run_of(pairs)
    asked = sorted(set(wanted))
    expected = [pair for key in asked for pair in [each for each in sorted(pairs) if each[0] == key][:most]]
    assert listed(run.found(np.array(asked, np.int64), most)) == expected
    for key in asked:
        assert run.of_one(key) == [place for each, place in sorted(pairs) if each == key]


@given(PAIRS, st.integers(0, 4))
def test_what_is_marked_is_left_out(pairs: Pairs, gone: int) -> None:
    run = run_of(pairs)
    assert listed(run.without(run.places == gone)) == [each for each in sorted(pairs) if each[1] != gone]


@given(PAIRS)
def test_a_run_comes_back_as_it_was_written(pairs: Pairs) -> None:
    assert listed(Addresses.decoded(run_of(pairs).encoded())) == sorted(pairs)


@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=5), st.data())
def test_no_damaged_run_is_read(pairs: Pairs, data: st.DataObject) -> None:
    blob = bytearray(run_of(pairs).encoded())
    at = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt, match="addresses"):
        Addresses.decoded(bytes(blob))
    cut = data.draw(st.integers(0, len(blob) - 1))
    with pytest.raises(IndexCorrupt, match="addresses"):
        Addresses.decoded(run_of(pairs).encoded()[:cut])
