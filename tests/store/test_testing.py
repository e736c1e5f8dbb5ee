"""The public suite, on both databases."""

from collections.abc import Iterator

import pytest

from memorata.store.database import Database
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.testing import DatabaseConformance


class TestFile(DatabaseConformance):
    @pytest.fixture
    def database(self) -> Iterator[Database]:
        opened = SqliteDatabase(":memory:")
        yield opened
        opened.close()
