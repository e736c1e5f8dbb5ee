"""The public suite, on both databases."""

from collections.abc import Iterator

import pytest

from memorata.store.database import Database
from memorata.store.sqlite.database import SqliteDatabase
from memorata.testing.databases import DatabaseConformance
from memorata_postgres.store import PostgresStore


class TestFile(DatabaseConformance):
    @pytest.fixture
    def database(self) -> Iterator[Database]:
        opened = SqliteDatabase(":memory:")
        yield opened
        opened.close()


class TestServer(DatabaseConformance):
    @pytest.fixture
    def database(self, server_store: PostgresStore) -> Database:
        return server_store._database
