"""A store on a server says how it searches, and what runs there."""

import re

from memorata.store.postgres.methods import EXACT, POSTINGS, methods, server
from memorata.store.postgres.store import PostgresStore


def test_without_an_index_every_search_is_exact(store: PostgresStore) -> None:
    with store._database.reading() as connection:
        assert methods(connection) == {"vector": EXACT, "lexical": POSTINGS}
        assert re.fullmatch(r"PostgreSQL \d+\.\d+, pgvector [\d.]+", server(connection))
    assert store.methods() == {"vector": EXACT, "lexical": POSTINGS}
