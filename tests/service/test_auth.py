import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.service import auth as module
from memorata.service.auth import RateLimiter


class Ticks:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_again() -> None:
    ticks = Ticks()
    buckets = RateLimiter(2.0, 3, ticks)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("b") == 0
    ticks.now = 0.25
    assert buckets.take("a") == 0.25
    ticks.now = 0.5
    assert [buckets.take("a") for _ in range(2)] == [0, 0.5]
    ticks.now = 100.0
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_no_rate_is_no_limit() -> None:
    buckets = RateLimiter(None, 1)
    assert [buckets.take("a") for _ in range(100)] == [0] * 100


@given(
    rate=st.floats(0.1, 100),
    burst=st.integers(1, 20),
    waits=st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_never_more_than_the_burst_and_the_rate_together(rate: float, burst: int, waits: list[float]) -> None:
    ticks = Ticks()
    buckets = RateLimiter(rate, burst, ticks)
    taken = 0
    for wait in waits:
        ticks.now += wait
        taken += buckets.take("a") == 0
    assert taken <= burst + ticks.now * rate + 1e-6


def test_those_who_asked_longest_ago_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BUCKETS", 2)
    buckets = RateLimiter(0.001, 1, Ticks())
    assert [buckets.take(name) for name in "abc"] == [0, 0, 0]
    assert buckets.take("c") > 0
    assert buckets.take("a") == 0
