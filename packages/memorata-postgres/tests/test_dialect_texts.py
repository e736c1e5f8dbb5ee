import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorata_postgres.dialect import register, restored, storable
from memorata_postgres.store import PostgresStore

TEXTS = st.text(st.sampled_from("\x00\x01\x02a\x7f\u2028é\U0010ffff")) | st.text()


@given(TEXTS)
def test_every_text_comes_back(text: str) -> None:
    assert restored(storable(text)) == text
    assert "\x00" not in storable(text)


@given(TEXTS, TEXTS)
def test_texts_keep_their_order(one: str, other: str) -> None:
    assert (one < other) == (storable(one).encode() < storable(other).encode())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=1, max_size=5))
@pytest.mark.parametrize("binary", [True, False])
def test_a_connection_writes_and_reads_them(
    store: PostgresStore, used: str, binary: bool, texts: list[str]
) -> None:
    with store._database.reading() as (session, _):
        row = session.connection.execute(
            "SELECT %s::text, %s::text[]", (texts[0], texts), binary=binary
        ).fetchone()
    assert row == (texts[0], texts)


def test_a_plain_connection_cannot(used: str) -> None:
    with psycopg.connect(used) as connection:
        with pytest.raises(psycopg.DataError):
            connection.execute("SELECT %s::text", ("\x00",))
        register(connection)
        assert connection.execute("SELECT %s::text", ("\x00",)).fetchone() == ("\x00",)
