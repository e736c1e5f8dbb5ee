"""Places: no two memories and no two vectors share a number, and numbers sort as what they are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memorata.store.limits import EMBEDDERS, NAMESPACES, SLOTS
from memorata.store.sqlite.places import place, vectors_place

parts = st.tuples(st.integers(1, EMBEDDERS - 1), st.integers(1, NAMESPACES - 1), st.integers(0, SLOTS - 1))


@given(parts, parts)
def test_places_sort_as_their_parts(one: tuple[int, int, int], other: tuple[int, int, int]) -> None:
    assert (vectors_place(*one) < vectors_place(*other)) == (one < other)
    assert (place(*one[1:]) < place(*other[1:])) == (one[1:] < other[1:])


def test_the_largest_place_is_the_largest_number_sqlite_holds() -> None:
    assert vectors_place(EMBEDDERS - 1, NAMESPACES - 1, SLOTS - 1) == 2**63 - 1
