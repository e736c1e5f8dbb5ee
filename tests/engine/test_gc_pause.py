"""The collector of reference cycles rests inside the block, and is afterwards as it was."""

import gc
from collections.abc import Iterator

import pytest

from memorata.engine.gc_pause import gc_paused


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def collections() -> int:
    return sum(each["collections"] for each in gc.get_stats())


def test_what_a_batch_makes_is_not_looked_at_while_it_is_made() -> None:
    before = collections()
    with gc_paused():
        made = [[number] for number in range(20_000)]
        assert collections() == before
    made += [[number] for number in range(20_000)]
    assert collections() > before


def test_what_others_leave_behind_is_looked_at_in_the_end() -> None:
    before = collections()
    with gc_paused():
        made = [[number] for number in range(200_000)]
        assert before < collections() < before + 10
    assert len(made) == 200_000


def test_it_is_as_before_whatever_happened() -> None:
    def fail() -> None:
        with gc_paused():
            assert gc.get_threshold() == (100_000, 10, 10)
            raise KeyError("tea")

    with pytest.raises(KeyError):
        fail()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("often", [0, 100_000, 200_000])
def test_who_let_it_rest_for_longer_finds_it_so(often: int) -> None:
    gc.set_threshold(often, 5, 5)
    with gc_paused():
        assert gc.get_threshold() == (often, 5, 5)
    assert gc.get_threshold() == (often, 5, 5)


def test_a_block_in_a_block_wakes_nobody() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert gc.get_threshold()[0] == 100_000
    assert gc.get_threshold()[0] == 700
