"""One by one or all at once, a hash is the same; two namespaces have two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.fingerprint import fingerprint
from memorata.store.sqlite.hashes import digest_key, digest_keys, fingerprint_key, fingerprint_keys

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
