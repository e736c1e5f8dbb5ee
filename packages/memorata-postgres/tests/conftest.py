"""Tests of the server alone."""

import pytest

from memorata_postgres.store import PostgresStore


@pytest.fixture
def store(server_store: PostgresStore) -> PostgresStore:
    """An empty store on a server."""
    return server_store
