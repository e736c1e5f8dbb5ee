"""Tables over the servers of a Citus cluster; on a plain server, that there is none is said."""

from collections.abc import Iterator

import pytest

import memorata
from memorata.model.errors import InvalidArgument, ServerUnsuitable
from memorata_postgres.distribution import Distribution, distribute, placed
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import ON_CITUS, ON_ONE


@ON_ONE
def test_a_plain_server_says_what_is_missing(url: str) -> None:
    with pytest.raises(ServerUnsuitable, match=r"no coordinator of Citus; .*CREATE EXTENSION citus"):
        distribute(url)


def test_shards_are_bounded(url: str) -> None:
    with pytest.raises(InvalidArgument, match="shards must be at most 1024"):
        distribute(url, shards=1025)


@ON_ONE
def test_a_plain_server_is_not_distributed(server_store: PostgresStore) -> None:
    assert "shards" not in server_store.statistics()


def test_what_a_cluster_tells_of_itself_is_read() -> None:
    answers = iter([(1,), ({"db1:5432": 3, "db2:5432": 5},), (1,), (70, 2)])
    assert placed(lambda sql: next(answers)) == Distribution(8, {"db1:5432": 3, "db2:5432": 5}, 70, 2)
    older = iter([(1,), (None,), None])
    assert placed(lambda sql: next(older)) == Distribution(0)


@pytest.fixture
def memory(used: str, server_store: PostgresStore) -> Iterator[memorata.Engine]:
    """Return an engine on the tables that tests share."""
    with memorata.open(used, embedder="lexical") as opened:
        yield opened


@ON_CITUS
def test_everyday_verbs_go_to_one_server_each(memory: memorata.Engine, server_store: PostgresStore) -> None:
    memory.remember("Anna lives in Rome.", namespace="acme/anna")
    before = server_store.statistics()
    assert before["shards"] == 4
    for number in range(5):
        namespace = f"acme/{number}"
        rome = memory.remember("Anna lives in Rome.", namespace=namespace)
        memory.remember_many([f"Fact {each} of Tom." for each in range(300)], namespace=namespace)
        paris = memory.correct(rome.id, "Anna lives in Paris.", namespace=namespace)
        result = memory.recall("Where does Anna live?", namespace=namespace)
        assert result.hits[0].content == "Anna lives in Paris."
        memory.admin.feedback.record(result.id, paris.id, "thumbs", "up", namespace=namespace)
        memory.forget(paris.id, namespace=namespace)
        memory.restore(paris.id, namespace=namespace)
    after = server_store.statistics()
    assert after["single_shard"] > before["single_shard"]
    # What the two readings of the statistics themselves count over all servers is subtracted.
    again = server_store.statistics()
    assert after["multi_shard"] - before["multi_shard"] == again["multi_shard"] - after["multi_shard"]


@ON_CITUS
def test_a_store_with_memories_is_distributed_as_it_is(url: str) -> None:
    with memorata.open(url, embedder="lexical") as memory:
        for number in range(9):
            memory.remember(f"User {number} drinks tea.", namespace=f"users/{number}")
    assert distribute(url, shards=4).shards == 4
    assert distribute(url, shards=8).shards == 4
    with memorata.open(url, embedder="lexical") as memory:
        for number in range(9):
            (hit,) = memory.recall("who drinks tea?", namespace=f"users/{number}").hits
            assert hit.content == f"User {number} drinks tea."
        assert memory.admin.check() == []
