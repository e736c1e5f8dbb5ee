"""Tests in this folder are about the server alone."""

import pytest

from memorata.store.dialects import PostgresStore


@pytest.fixture
def store(server_store: PostgresStore) -> PostgresStore:
    """An empty store on a server."""
    return server_store
