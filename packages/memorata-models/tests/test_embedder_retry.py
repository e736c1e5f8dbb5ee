import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import memorata
from memorata.embed.circuit_breaker import CircuitBreaker, RetryPolicy
from memorata.embed.selection import Resources
from memorata.embed.trust import source_of, user_trust
from memorata.engine.embedding import UNAVAILABLE
from memorata.engine.engine import Engine
from memorata.model.errors import EmbedderError
from memorata_models.install import install


class Clock:
    """Time that passes, and can be made to pass faster."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("memorata.engine.embedding.CircuitBreaker", lambda: CircuitBreaker(clock=made))
    return made


def opened(path: Path, service: Any, clock: Clock, embedder: str | None = None) -> Engine:
    retry = RetryPolicy(attempts=2, first_pause=0.01, clock=clock)
    resources = Resources(retry=retry, query_seconds=1.0)
    return memorata.open(path, embedder=embedder or service.name, config={"resources": resources})


def agree_to(service: Any) -> None:
    """Agree to a service that a store names without its having been used from here."""
    source = source_of(service.name)
    assert source is not None
    user_trust().agree_to_source(source)


def test_a_memory_opened_while_its_service_is_away_comes_back_by_itself(
    ollama: Any, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "m.db"
    with opened(path, ollama, clock) as memory:
        memory.remember("Anna drinks green tea.")
        name = memory.recall("green tea").embedder
    ollama.stop()
    with opened(path, ollama, clock, embedder="auto") as memory:
        away = memory.recall("green tea")
        assert [hit.memory.content for hit in away] == ["Anna drinks green tea."]
        assert away.embedder == ""
        assert "the embedder failed, words only: " in away.degraded[0]
        assert "refused the connection: is the service running?" in away.degraded[0]
        asleep = memory.remember("Ben drinks coffee.")
        assert asleep.embedder == ""
        ollama.start()
        assert "it is not asked again for" in memory.recall("green tea").degraded[0]
        clock.ahead += 60.0
        back = memory.recall("green tea")
        assert (back.embedder, back.degraded) == (
            name,
            ("1 memory has no vector of this embedder yet; words only for it",),
        )
        assert memory.admin.embed_pending().embedded == 1
        assert memory.recall("green tea").degraded == ()


def test_opening_asks_nothing_of_a_service_that_the_store_knows(
    ollama: Any, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "m.db"
    with opened(path, ollama, clock) as memory:
        memory.remember("Anna drinks green tea.")
    ollama.asked.clear()
    ollama.hangs.set()
    began = monotonic()
    with opened(path, ollama, clock) as memory:
        assert (memory.notes, ollama.asked) == ((), [])
        assert len(memory.recall("tea")) == 1
    assert monotonic() - began < 20  # the service would hang for 30


def test_a_service_that_hangs_holds_one_recall_for_a_moment_and_the_next_not_at_all(
    ollama: Any, tmp_path: Path, clock: Clock
) -> None:
    with opened(tmp_path / "m.db", ollama, clock) as memory:
        memory.remember("Anna drinks green tea.")
        ollama.asked.clear()
        ollama.hangs.set()
        began = monotonic()
        first = memory.recall("green tea")
        assert monotonic() - began < 20  # the service would hang for 30
        assert "did not answer within 1 s" in first.degraded[0]
        assert len(first) == 1
        for _ in range(5):
            assert "it is not asked again for" in memory.recall("green tea").degraded[0]
        assert len(ollama.asked) == 1
        ollama.hangs.clear()
        clock.ahead += 60.0
        assert memory.recall("green tea").degraded == ()


def test_an_embedder_that_was_never_used_here_is_looked_for_again(
    ollama: Any, tmp_path: Path, clock: Clock
) -> None:
    """Its name may have changed with a version of Memorata, or been written by another program."""
    path = tmp_path / "m.db"
    with opened(path, ollama, clock, embedder="lexical") as memory:
        memory.remember("Anna drinks green tea.")
        memory.store.remember_setting("embedder", ollama.name)
    agree_to(ollama)
    ollama.stop()
    with opened(path, ollama, clock, embedder="auto") as memory:
        assert [note.startswith(UNAVAILABLE) for note in memory.notes] == [True]
        assert memory.recall("green tea").degraded[0].startswith(UNAVAILABLE)
        assert memory.embedder is None
        ollama.start()
        assert "not asked again" in memory.recall("green tea").degraded[0]
        clock.ahead += 60.0
        back = memory.recall("green tea")
        assert memory.embedder is not None
        assert back.embedder == memory.embedder.name
        assert back.degraded == ("1 memory has no vector of this embedder yet; words only for it",)
        assert (memory.notes, memory._embedding.specification) == ((), ollama.name)
        assert memory.remember("Ben drinks coffee.").embedder == memory.embedder.name
        assert memory.admin.reembed().embedded == 1
        assert memory.recall("green tea").degraded == ()


def test_who_embeds_looks_at_once_and_is_told_why_not(ollama: Any, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "m.db"
    with opened(path, ollama, clock, embedder="lexical") as memory:
        memory.remember("Anna drinks green tea.")
        memory.store.remember_setting("embedder", ollama.name)
    agree_to(ollama)
    ollama.stop()
    with opened(path, ollama, clock, embedder="auto") as memory:
        refused = r"cannot be used, words only: .* refused the connection"
        with pytest.raises(EmbedderError, match=refused):
            memory.admin.embed_pending()
        for dry_run in (False, True):
            with pytest.raises(EmbedderError, match=refused):
                memory.admin.reembed(dry_run=dry_run)
        ollama.start()
        assert memory.admin.embed_pending().embedded == 1


def test_questions_that_ask_for_words_alone_look_for_nobody(
    ollama: Any, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "m.db"
    with opened(path, ollama, clock, embedder="lexical") as memory:
        memory.remember("Anna drinks green tea.")
        memory.store.remember_setting("embedder", ollama.name)
    agree_to(ollama)
    ollama.stop()
    with opened(path, ollama, clock, embedder="auto") as memory:
        ollama.start()
        clock.ahead += 60.0
        memory.recall("green tea", recipe={"vector_pool": 0})
        assert memory.embedder is None


def test_a_model_that_is_installed_later_is_taken_up(tmp_path: Path, clock: Clock) -> None:
    path, there = tmp_path / "m.db", tmp_path / "models"
    models = Path(os.environ.get("MEMORATA_MODELS") or Path(sys.prefix) / "models")
    install("potion-base-8M", models)
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna drinks green tea.")
        memory.store.remember_setting("embedder", "potion-base-8M")
    with memorata.open(path, config={"resources": Resources(models=there)}) as memory:
        assert "memorata model install potion-base-8M" in memory.recall("tea").degraded[0]
        there.mkdir()
        (there / "potion-base-8M").symlink_to(models / "potion-base-8M")
        clock.ahead += 60.0
        assert memory.recall("tea").embedder.startswith("potion-base-8M")
