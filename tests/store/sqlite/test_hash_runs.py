"""Sorted runs of hashes and places, against lists that are gone through one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.fingerprint import fingerprint
from memorata.model.errors import IndexCorrupt
from memorata.store.sqlite.hash_runs import (
    HashRun,
    digest_key,
    digest_keys,
    fingerprint_key,
    fingerprint_keys,
)

Pairs = list[tuple[int, int]]
FEW = st.integers(-3, 3)
LARGE = st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1])
PAIRS = st.lists(st.tuples(FEW | LARGE, st.integers(0, 4) | st.just(2**63 - 1)), max_size=30)


def run_of(pairs: Pairs) -> HashRun:
    keys, places = np.array(pairs, np.int64).reshape(-1, 2).T
    return HashRun.of(keys, places)


def listed(run: HashRun) -> Pairs:
    return list(zip(run.keys.tolist(), run.places.tolist(), strict=True))


@given(PAIRS)
def test_a_run_is_in_order(pairs: Pairs) -> None:
    assert listed(run_of(pairs)) == sorted(pairs)
    assert len(run_of(pairs)) == len(pairs)


@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_joined_runs_say_everything_once(parts: list[Pairs]) -> None:
    once = [run_of(sorted(set(part))) for part in parts]
    assert listed(HashRun.joined(once)) == sorted(set().union(*parts))


@given(PAIRS, st.lists(FEW | LARGE, max_size=8), st.none() | st.integers(1, 3))
def test_what_is_found_has_one_of_the_wanted_hashes(
    pairs: Pairs, wanted: list[int], most: int | None
) -> None:
    run = run_of(pairs)
    asked = sorted(set(wanted))
    expected = [pair for key in asked for pair in [each for each in sorted(pairs) if each[0] == key][:most]]
    assert listed(run.of_many(np.array(asked, np.int64), most)) == expected
    for key in asked:
        assert run.of_one(key) == [place for each, place in sorted(pairs) if each == key]


@given(PAIRS, st.integers(0, 4))
def test_what_is_marked_is_left_out(pairs: Pairs, gone: int) -> None:
    run = run_of(pairs)
    assert listed(run.without(run.places == gone)) == [each for each in sorted(pairs) if each[1] != gone]


@given(PAIRS)
def test_a_run_comes_back_as_it_was_written(pairs: Pairs) -> None:
    assert listed(HashRun.decoded(run_of(pairs).encoded())) == sorted(pairs)


@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=5), st.data())
def test_no_damaged_run_is_read(pairs: Pairs, data: st.DataObject) -> None:
    blob = bytearray(run_of(pairs).encoded())
    at = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt, match="run of the hash index"):
        HashRun.decoded(bytes(blob))
    cut = data.draw(st.integers(0, len(blob) - 1))
    with pytest.raises(IndexCorrupt, match="run of the hash index"):
        HashRun.decoded(run_of(pairs).encoded()[:cut])


FINGERPRINTS = (
    st.text(max_size=40) | st.text("0123456789abcdef ", min_size=14, max_size=34) | st.text().map(fingerprint)
)
NAMESPACES = st.integers(0, 2**25 - 1)


@given(NAMESPACES, st.lists(FINGERPRINTS, max_size=6))
def test_a_fingerprint_has_one_hash_alone_and_among_others(number: int, several: list[str]) -> None:
    alone = [fingerprint_key(number, each) for each in several]
    assert fingerprint_keys(number, several).tolist() == alone
    each_its_own = fingerprint_keys(np.arange(len(several)), several).tolist()
    assert each_its_own == [fingerprint_key(at, each) for at, each in enumerate(several)]


@pytest.mark.parametrize("foreign", ["", "0x" + "1" * 30, "12 34 56 78 90 ab cd ef", "١" * 32, "\ud800"])
def test_what_is_no_fingerprint_of_ours_has_a_hash_all_the_same(foreign: str) -> None:
    ours = fingerprint("tea")
    assert fingerprint_keys(7, [ours, foreign]).tolist() == [
        fingerprint_key(7, ours),
        fingerprint_key(7, foreign),
    ]


@given(st.integers(1, 127), NAMESPACES, st.lists(st.binary(max_size=20), max_size=6))
def test_an_address_has_one_hash_alone_and_among_others(
    number: int, whose: int, several: list[bytes]
) -> None:
    assert digest_keys(number, whose, several).tolist() == [
        digest_key(number, whose, each) for each in several
    ]
    numbers = np.arange(1, len(several) + 1)
    each_its_own = digest_keys(numbers, 2 * numbers, several).tolist()
    assert each_its_own == [digest_key(at, 2 * at, each) for at, each in enumerate(several, 1)]


@given(NAMESPACES, NAMESPACES, FINGERPRINTS)
def test_the_same_words_in_two_namespaces_have_two_hashes(one: int, other: int, given_: str) -> None:
    assert (fingerprint_key(one, given_) == fingerprint_key(other, given_)) == (one == other)
    digest = given_.encode("utf-8", "surrogatepass")
    assert (digest_key(3, one, digest) == digest_key(3, other, digest)) == (one == other)
    assert digest_key(1, one, digest) != digest_key(2, one, digest)
