"""Tests of the server alone."""

import pytest

from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import base, chance_of_pools, role, server_store, start_server, url, used

__all__ = ["base", "chance_of_pools", "role", "server_store", "start_server", "url", "used"]


@pytest.fixture
def store(server_store: PostgresStore) -> PostgresStore:
    """An empty store on a server."""
    return server_store
