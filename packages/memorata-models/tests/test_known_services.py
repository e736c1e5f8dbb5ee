from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.embed.circuit_breaker import RetryPolicy
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.selection import Resources
from memorata.engine.embedding import DIMENSION, Service, checked_embedder
from memorata.engine.engine import Engine
from memorata.model.errors import DimensionMismatch, InvalidArgument, ServiceUnreachable
from memorata.store.dialects import SqliteStore
from memorata_models.services import OllamaEmbedder

TEXTS = ("Anna drinks green tea.", "Ben drinks coffee.")


@pytest.fixture
def memory(ollama: Any, tmp_path: Path) -> Callable[..., Engine]:
    """Return what opens one memory, whose texts were embedded by the service."""

    def opened(dimension: int | None = None, embedder: Any = "auto") -> Engine:
        resources = Resources(
            retry=RetryPolicy(attempts=2, first_pause=0.01), query_seconds=2.0, dimension=dimension
        )
        return memorata.open(tmp_path / "m.db", embedder=embedder, config={"resources": resources})

    with opened(embedder=ollama.name) as made:
        made.remember_many(TEXTS)
    return opened


def test_a_model_that_has_changed_its_length_answers_by_words_and_says_what_to_do(
    ollama: Any, memory: Callable[..., Engine]
) -> None:
    ollama.width = 32
    with memory() as opened:
        assert opened.embedder is not None
        assert opened.embedder.dimension == 64
        found = opened.recall("green tea")
        assert found.hits[0].memory.content == TEXTS[0]
        assert found.embedder == ""
        assert "gave vectors of 32 dimensions where 64 were expected" in found.degraded[0]
        assert (
            "set the dimension (MEMORATA_DIMENSION=32) and run `memorata admin reembed`" in found.degraded[0]
        )
        assert opened.remember("Cleo drinks milk.").embedder == ""
        with pytest.raises(DimensionMismatch, match="MEMORATA_DIMENSION=32"):
            opened.admin.reembed()
        assert opened.store.statistics()["vectors"] == {opened.embedder.name: 2}


def test_doing_so_replaces_the_vectors_and_never_mixes_them(
    ollama: Any, memory: Callable[..., Engine]
) -> None:
    with memory() as opened:
        assert opened.embedder is not None
        old = opened.embedder.name
    ollama.width = 32
    with memory(dimension=32) as opened:
        assert opened.embedder is not None
        assert (opened.embedder.name, opened.embedder.dimension) == (f"{old}:32", 32)
        assert f"2 memories have no vector of {old}:32" in opened.notes[0]
        assert f"2 of {old}" in opened.notes[0]
        during = opened.recall("green tea")
        assert during.hits[0].memory.content == TEXTS[0]
        assert during.degraded == ("2 memories have no vector of this embedder yet; words only for those",)
        done = opened.admin.reembed()
        assert (done.embedded, done.dropped, dict(done.others)) == (2, 2, {old: 2})
        assert opened.recall("green tea").degraded == ()
    ollama.asked.clear()
    for dimension in (None, 32):
        with memory(dimension) as opened:
            assert opened.embedder is not None
            assert (opened.embedder.name, opened.notes, ollama.asked) == (f"{old}:32", (), [])
            assert opened.recall("green tea").degraded == ()
            ollama.asked.clear()


def test_one_can_go_back(ollama: Any, memory: Callable[..., Engine]) -> None:
    ollama.width = 32
    with memory(dimension=32) as opened:
        opened.admin.reembed(keep_old=True)
    ollama.width = 64
    with memory() as opened:
        assert "gave vectors of 64 dimensions where 32" in opened.recall("green tea").degraded[0]
    with memory(dimension=64) as opened:
        assert opened.recall("green tea").degraded == ()
        assert opened.admin.reembed().embedded == 0
    with memory() as opened:
        assert opened.embedder is not None
        assert opened.embedder.dimension == 64
        assert opened.recall("green tea").degraded == ()


def test_a_length_that_is_not_the_service_s_is_not_believed(
    ollama: Any, memory: Callable[..., Engine]
) -> None:
    with memory(dimension=100) as opened:
        assert opened.embedder is None
        assert "gave vectors of 64 dimensions where 100 were expected" in opened.notes[0]
        assert len(opened.recall("green tea")) == 1
        statistics = opened.store.statistics()
        assert sum(statistics["vectors"].values()) == 2
        assert len(statistics["vectors"]) == 1


def test_a_change_of_length_has_to_be_seen(ollama: Any, memory: Callable[..., Engine]) -> None:
    ollama.stop()
    with memory(dimension=32) as opened:
        assert opened.embedder is None
        assert "refused the connection" in opened.notes[0]
    with memory(dimension=64) as opened:
        assert opened.embedder is not None


def test_a_copy_of_a_store_goes_on_with_the_same_name(
    ollama: Any, memory: Callable[..., Engine], tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "other.db")
    service = OllamaEmbedder("m", "http://127.0.0.1:1").of_dimension(32, apart=True)
    store.use_embedder(service.name, 32)
    again = OllamaEmbedder("m", ollama.name.partition("@")[2])
    ollama.width = 32
    assert checked_embedder(again, store, recorded=True).name == service.name
    store.close()


def test_a_copy_takes_the_length_along(ollama: Any, memory: Callable[..., Engine], tmp_path: Path) -> None:
    ollama.width = 32
    target = SqliteStore(tmp_path / "copy.db")
    with memory(dimension=32) as opened:
        opened.admin.reembed()
        opened.admin.transfer.copy(target)
    assert target.setting(DIMENSION) == "32"
    target.close()


def test_an_embedder_of_the_caller_s_own_need_not_be_there_either(ollama: Any, tmp_path: Path) -> None:
    address = ollama.name.partition("@")[2]
    path = tmp_path / "m.db"
    with memorata.open(path, embedder=OllamaEmbedder("m", address)) as opened:
        opened.remember(TEXTS[0])
    ollama.stop()
    with memorata.open(path, embedder=OllamaEmbedder("m", address)) as opened:
        assert "refused" in opened.recall("green tea").degraded[0]
        ollama.start()
    given = OllamaEmbedder("m", address, dimension=64)
    with memorata.open(path, embedder=given) as opened:
        assert opened.embedder is given
        assert opened.recall("green tea").degraded == ()
    ollama.stop()
    hasty = RetryPolicy(attempts=1)
    with pytest.raises(ServiceUnreachable):
        memorata.open(tmp_path / "new.db", embedder=OllamaEmbedder("m", address, retry=hasty))


def test_only_services_are_services() -> None:
    assert isinstance(OllamaEmbedder("m", "http://x"), Service)
    assert not isinstance(LexicalEmbedder(), Service)


@pytest.mark.parametrize("kept", ["", "-1", "0", "many", "9" * 5000])
def test_a_recorded_length_that_is_none_is_refused(kept: str) -> None:
    store = SqliteStore(":memory:")
    store.remember_setting(DIMENSION, kept)
    with pytest.raises(InvalidArgument, match="embedder_dimension"):
        checked_embedder(OllamaEmbedder("m", "http://127.0.0.1:1"), store, recorded=True)
    store.close()
