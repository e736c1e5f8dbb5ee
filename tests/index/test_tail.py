import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.tail import decoded, encoded
from memorata.model.errors import IndexCorrupt

TERMS = st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=8), st.integers(1, 10**9)))


@given(TERMS)
def test_what_goes_in_comes_out(terms: dict[str, dict[str, int]]) -> None:
    assert decoded(encoded(terms)) == terms


@given(st.data())
def test_a_flipped_bit_is_noticed(data: st.DataObject) -> None:
    blob = bytearray(encoded({"content": {"tea": 2, "grün": 1}}))
    position = data.draw(st.integers(0, len(blob) - 1).filter(lambda at: at not in (1, 2, 3)))
    blob[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IndexCorrupt):
        decoded(bytes(blob))


@pytest.mark.parametrize("cut", [0, 1, 7, 12])
def test_a_cut_is_noticed(cut: int) -> None:
    with pytest.raises(IndexCorrupt):
        decoded(encoded({"content": {"tea": 2}})[:cut])


def test_a_version_nobody_knows_is_said() -> None:
    with pytest.raises(IndexCorrupt, match="unknown version 9"):
        decoded(b"\x09" + encoded({})[1:])
