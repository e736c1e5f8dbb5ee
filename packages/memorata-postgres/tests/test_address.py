import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.store.address import ServerAddress, address_of, is_address, shown
from memorata_postgres.address import parsed, without_secrets

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("path", "is_one"),
    [("postgresql://h/d", True), ("postgres://h/d", True), ("POSTGRESQL://h/d", True), ("m.db", False),
     (":memory:", False), ("postgresql.db", False), ("./postgresql://x", False), (7, False)],
)  # fmt: skip
def test_an_address_is_told_from_a_path(path: object, is_one: bool) -> None:
    assert is_address(path) == is_one


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://anna:{SECRET}@h:5432/d",
        f"postgresql://anna:{SECRET}@h1:1,h2:2/d?target_session_attrs=read-write",
        f"postgresql://h/d?user=anna&password={SECRET}",
        f"postgresql://anna:a@b/{SECRET}@h/d",
        f"postgresql://anna:{SECRET}",
        f"postgresql://anna:%{SECRET}@h/d",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    for text in (shown(url), str(ServerAddress(url)), repr(ServerAddress(url)), f"{ServerAddress(url)}"):
        assert SECRET not in text


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), min_size=6))
def test_no_password_with_an_at_sign_after_it_is_ever_shown(password: str) -> None:
    if "?" not in password:
        assert password not in shown(f"postgresql://me:{password}@host/db")


def test_what_is_shown_says_where_and_which() -> None:
    assert shown("postgres://anna@h:5432/d?sslmode=require") == "postgresql://anna@h:5432/d"
    assert shown("postgresql://a@h1:1,h2:2,[::1]:3/d") == "postgresql://a@h1:1,h2:2,[::1]:3/d"
    assert shown("postgresql://[::1]/d") == "postgresql://[::1]/d"
    assert shown("postgresql:///d?host=/run/pg") == "postgresql:///d (at /run/pg)"


def test_messages_lose_their_secrets() -> None:
    url = f"postgresql://anna:{SECRET}@h/d"
    assert without_secrets(f"could not use {SECRET}", url) == "could not use ***"
    assert without_secrets("nothing", "postgresql://h/d") == "nothing"


def test_what_cannot_be_parsed_is_not_repeated() -> None:
    for url in (
        f"postgresql://u:{SECRET}@[h/d",
        f"postgresql://u:{SECRET}@h/d?x",
        f"postgresql://u:{SECRET}@h:p/d",
    ):
        with pytest.raises(InvalidArgument) as caught:
            parsed(url)
        assert SECRET not in str(caught.value)


def test_an_address_stands_where_a_path_stands() -> None:
    address = ServerAddress("postgresql://h/d")
    assert address == ServerAddress("postgresql://h/d") != ServerAddress("postgresql://h/e")
    assert len({address, ServerAddress("postgresql://h/d")}) == 1
    assert address.exists()
    assert address.resolve() == address
    assert address_of(address) == address_of("postgresql://h/d") == "postgresql://h/d"
    assert address_of("m.db") is None
