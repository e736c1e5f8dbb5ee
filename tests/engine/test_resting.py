"""The collector of reference cycles rests inside the block, and is afterwards as it was."""

import gc
from collections.abc import Iterator

import pytest

from recollect.engine.resting import collector_resting


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    yield
    gc.enable()


def test_it_runs_again_whatever_happened() -> None:
    def fail() -> None:
        with collector_resting():
            assert not gc.isenabled()
            raise KeyError("tea")

    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_so() -> None:
    gc.disable()
    with collector_resting():
        assert not gc.isenabled()
    assert not gc.isenabled()
