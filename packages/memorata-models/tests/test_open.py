"""Memories that are opened with models and services by their names."""

from pathlib import Path

import pytest

import memorata
from memorata.embed.circuit_breaker import RetryPolicy
from memorata.embed.selection import Resources
from memorata.embed.trust import user_trust
from memorata.model.errors import DimensionMismatch, ModelNotInstalled, ServiceUnreachable
from memorata_models import services
from memorata_models.catalogue import CATALOGUE
from memorata_models.description import as_toml


def test_a_model_of_the_hub_is_looked_up_where_its_own_tools_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ModelNotInstalled, match=r"org/name is not in the hub cache .*cache"):
        memorata.open(tmp_path / "m.db", embedder="hub:org/name")


def test_a_store_whose_model_is_gone_answers_by_words(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
        memory.store.remember_setting("embedder", "arctic-embed-s")
    with memorata.open(path, config={"resources": Resources(models=tmp_path / "nowhere")}) as memory:
        assert "words only" in memory.notes[0]
        answer = memory.recall("tea")
        assert len(answer) == 1
        assert answer.degraded


UNAVAILABLE = "ollama:some-model@http://127.0.0.1:1"
HURRIED = Resources(retry=RetryPolicy(attempts=1, timeout=1))


@pytest.mark.parametrize("embedder", ["auto", UNAVAILABLE])
def test_a_store_whose_service_is_away_answers_by_words(embedder: str, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
        memory.store.remember_setting("embedder", UNAVAILABLE)
    user_trust().agree_to_source("http://127.0.0.1:1")
    with memorata.open(path, embedder=embedder, config={"resources": HURRIED}) as memory:
        assert "words only" in memory.notes[0]
        assert "refused the connection" in memory.notes[0]
        assert memory.recall("tea").degraded
        memory.remember("Ben likes coffee.")
        assert len(memory.recall("coffee")) == 1
        assert memory.store.setting("embedder") == UNAVAILABLE


def test_a_service_that_the_store_does_not_know_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with pytest.raises(ServiceUnreachable):
        memorata.open(path, embedder=UNAVAILABLE, config={"resources": HURRIED})
    assert not path.exists()
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
    with pytest.raises(ServiceUnreachable):
        memorata.open(path, embedder=UNAVAILABLE, config={"resources": HURRIED})


def test_a_service_that_gives_other_vectors_than_was_said_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "post_json", lambda *asked: {"embeddings": [[0.6, 0.8]]})
    path = tmp_path / "m.db"
    with pytest.raises(DimensionMismatch, match="2 dimensions where 3 were expected"):
        memorata.open(path, embedder="ollama:some-model", config={"resources": Resources(dimension=3)})
    assert not path.exists()
    with memorata.open(
        path, embedder="ollama:some-model", config={"resources": Resources(dimension=2)}
    ) as memory:
        assert memory.remember("Anna likes tea.").embedder.startswith("ollama:some-model@")


def test_a_re_ranker_is_opened_by_its_name(tmp_path: Path) -> None:
    known = CATALOGUE["mini-reranker"].description
    for folder in (tmp_path / "mini-reranker", tmp_path / "other"):
        folder.mkdir()
        (folder / "model.toml").write_text(as_toml(known), encoding="utf-8")
    models = Resources(models=tmp_path)
    for name in ("mini-reranker", f"onnx:{tmp_path / 'other'}"):
        with memorata.open(
            ":memory:", embedder=None, config={"reranker": name, "resources": models}
        ) as memory:
            assert memory.reranker is not None
            assert memory.reranker.name == "mini-reranker"
