from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata_server import auth as module
from memorata_server.auth import SESSION_LIFETIME, RateLimiter, Session, Sessions


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


NOW = datetime(2026, 5, 7, tzinfo=UTC)


def sessions_at(now: datetime = NOW, secret: bytes | None = b"one secret") -> Sessions:
    return Sessions(None, lambda: now, secret)


def test_what_was_written_is_read() -> None:
    sessions = sessions_at()
    session = sessions.new()
    assert sessions.read(sessions.cookie(session)) == session


def test_every_session_is_another() -> None:
    assert sessions_at().new().id != sessions_at().new().id


def test_a_cookie_ends() -> None:
    cookie = sessions_at().cookie(sessions_at().new())
    assert sessions_at(NOW + SESSION_LIFETIME - timedelta(seconds=1)).read(cookie) is not None
    assert sessions_at(NOW + SESSION_LIFETIME).read(cookie) is None


def test_any_change_spoils_it() -> None:
    sessions = sessions_at()
    cookie = sessions.cookie(Session("abc", int(NOW.timestamp()) + 60))
    for position in range(len(cookie)):
        other = "0" if cookie[position] != "0" else "1"
        assert sessions.read(cookie[:position] + other + cookie[position + 1 :]) is None
    assert sessions.read("") is None
    assert sessions.read("ä.1.ü") is None


def test_another_process_does_not_know_it() -> None:
    assert sessions_at(secret=None).read(sessions_at().cookie(sessions_at().new())) is None


def test_a_token_belongs_to_one_session() -> None:
    sessions = sessions_at()
    one, two = sessions.new(), sessions.new()
    assert sessions.is_token(one, sessions.token(one))
    assert not sessions.is_token(two, sessions.token(one))
    assert not sessions.is_token(one, "")
    # A signature of a cookie is no token: the two are signed for different purposes.
    assert not sessions.is_token(one, sessions.cookie(one).rpartition(".")[2])


def test_an_example_of_rate_limiter() -> None:
    seconds = iter([0.0, 0.0, 0.0, 2.0])
    buckets = RateLimiter(0.5, 2, lambda: next(seconds))
    assert [buckets.take("anna") for _ in range(4)] == [0.0, 0.0, 2.0, 0.0]


def test_an_example_of_sessions() -> None:
    now = datetime(2026, 5, 7, tzinfo=UTC)
    sessions = Sessions(None, lambda: now, b"a secret of this example")
    session = sessions.new()
    assert sessions.read(sessions.cookie(session)) == session
    assert sessions.read(sessions.cookie(session) + "0") is None
