"""A cookie is good if it was written here and has not ended; nothing else is."""

from datetime import UTC, datetime, timedelta

from memorata.web.signing import LIFETIME, Signer, Visitor

NOW = datetime(2026, 5, 7, tzinfo=UTC)
SIGNER = Signer(b"one secret")


def test_what_was_written_is_read() -> None:
    visitor = SIGNER.newcomer(NOW)
    assert SIGNER.read(SIGNER.cookie(visitor), NOW) == visitor


def test_every_session_is_another() -> None:
    assert SIGNER.newcomer(NOW).session != SIGNER.newcomer(NOW).session


def test_a_cookie_ends() -> None:
    cookie = SIGNER.cookie(SIGNER.newcomer(NOW))
    assert SIGNER.read(cookie, NOW + LIFETIME - timedelta(seconds=1)) is not None
    assert SIGNER.read(cookie, NOW + LIFETIME) is None


def test_any_change_spoils_it() -> None:
    cookie = SIGNER.cookie(Visitor("abc", int(NOW.timestamp()) + 60))
    for place in range(len(cookie)):
        other = "0" if cookie[place] != "0" else "1"
        assert SIGNER.read(cookie[:place] + other + cookie[place + 1 :], NOW) is None
    assert SIGNER.read("", NOW) is None
    assert SIGNER.read("ä.1.ü", NOW) is None


def test_another_process_does_not_know_it() -> None:
    assert Signer().read(SIGNER.cookie(SIGNER.newcomer(NOW)), NOW) is None


def test_a_token_belongs_to_one_session() -> None:
    one, two = SIGNER.newcomer(NOW), SIGNER.newcomer(NOW)
    assert SIGNER.is_token(one, SIGNER.token(one))
    assert not SIGNER.is_token(two, SIGNER.token(one))
    assert not SIGNER.is_token(one, "")
    # A signature of a cookie is no token: the two are signed for different purposes.
    assert not SIGNER.is_token(one, SIGNER.cookie(one).rpartition(".")[2])
