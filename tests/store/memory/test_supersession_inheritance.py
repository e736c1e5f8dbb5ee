"""What stays takes over what only a repeat has, and gives it back, whatever the order of either."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Place
from memorata.model.memory import Memory
from memorata.store.memory.supersession import Note, given_back, noted, taken_over

NOW = datetime(2026, 5, 7, tzinfo=UTC)
DAYS = st.integers(0, 3).map(lambda days: NOW + timedelta(days=days))
SOME = st.lists(st.sampled_from("abc"), unique=True).map(tuple)

memories = st.builds(
    Memory,
    id=st.just("m"),
    content=st.just("tea"),
    created_at=st.just(NOW),
    tags=SOME,
    entities=SOME,
    place=st.none() | st.builds(Place, st.just(1.5), st.sampled_from([2.0, 0.1]), st.sampled_from(["", "x"])),
    pinned=st.booleans(),
    expires_at=st.none() | DAYS,
)


def after(memory: Memory, repeats: Sequence[Memory]) -> tuple[Memory, list[Note]]:
    notes = []
    for number, repeat in enumerate(repeats):
        taken = taken_over(memory, repeat)
        notes.append(Note(number, noted(memory, taken), repeat))
        memory = replace(memory, **taken)
    return memory, notes


def test_only_what_is_missing_is_taken_over() -> None:
    soon, later = NOW + timedelta(days=1), NOW + timedelta(days=2)
    tea = Memory(id="a", content="tea", created_at=NOW, tags=("x",), entities=("Anna",), expires_at=soon)
    assert taken_over(tea, tea) == {}
    assert taken_over(tea, replace(tea, tags=(), entities=(), expires_at=NOW)) == {}
    assert taken_over(tea, replace(tea, entities=("ANNA", "Ben"))) == {"entities": ("Anna", "Ben")}
    assert taken_over(tea, replace(tea, expires_at=later)) == {"expires_at": later}
    assert taken_over(tea, replace(tea, pinned=True)) == {"pinned": True, "expires_at": None}
    rome, oslo = Place(1.0, 2.0, "Rome"), Place(3.0, 4.0, "Oslo")
    assert taken_over(tea, replace(tea, place=rome)) == {"place": rome}
    assert taken_over(replace(tea, place=oslo), replace(tea, place=rome)) == {}
    assert noted(tea, {}) is None


@given(memories, st.lists(memories, max_size=4), st.data())
def test_what_is_given_back_in_any_order_was_never_taken(
    memory: Memory, repeats: list[Memory], data: st.DataObject
) -> None:
    now, notes = after(memory, repeats)
    order = data.draw(st.permutations(range(len(repeats))))
    for place, number in enumerate(order):
        now, others = given_back(now, notes, {number})
        notes = [
            Note(each.number, others[each.number], each.repeat) for each in notes if each.number in others
        ]
        left = [repeat for at, repeat in enumerate(repeats) if at not in order[: place + 1]]
        assert now == after(memory, left)[0]
    assert now == memory


def test_what_was_changed_since_stays() -> None:
    tea = Memory(id="a", content="tea", created_at=NOW, tags=("x",), expires_at=NOW)
    now, notes = after(tea, [replace(tea, tags=("y",), expires_at=NOW + timedelta(days=1))])
    changed = replace(now, tags=("y", "z"), expires_at=None)
    assert given_back(changed, notes, {0}) == (replace(tea, tags=("z",), expires_at=None), {})
