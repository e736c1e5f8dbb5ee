"""Everything about somebody can be seen, and then be gone to the last byte."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memorata
from memorata import Engine
from memorata.engine.write.purge import SUMMARY_OF
from memorata.model.errors import EntityNotFound, InvalidArgument, MemoryNotFound
from memorata.model.memory import Source
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as opened:
        yield opened


def bytes_of(folder: Path) -> bytes:
    files = sorted(folder.iterdir())
    assert any(path.name.endswith("-wal") for path in files), "the log is looked at as well"
    return b"".join(path.read_bytes() for path in files)


def filled(memory: Engine) -> None:
    memory.remember("Marigold drinks oolong.", id="said")
    memory.remember("I prefer the quiet carriage.", id="own", source=Source("Marigold", "trains"))
    memory.remember("The allergy form is in the drawer.", id="listed", entities=["Mari"])
    memory.remember("In the evening marigold, of all people, sang.", id="lower")
    memory.remember("Tomasz drinks rooibos.", id="other")
    memory.remember("Marigolds grow in the garden.", id="flowers")
    Graph(memory).entities.describe("Marigold", type="person", aliases=["Mari"], description="keeps quokkas")
    Graph(memory).entities.relate("Marigold", "works_at", "Kelpline")
    Graph(memory).entities.relate("Tomasz", "works_at", "Kelpline")
    memory.forget("lower")


def test_about_tells_everything_by_any_name_and_hidden_ones_too(memory: Engine) -> None:
    filled(memory)
    for name in ("Marigold", "MARI"):
        found = Graph(memory).entities.about(name)
        assert [each.id for each in found.memories] == ["said", "own", "listed", "lower"]
        assert [each.memory_id for each in found.hidden] == ["lower"]
        assert [each.entity.description for each in found.entities] == ["keeps quokkas"]
        assert [(each.source, each.target) for each in found.relations] == [("Marigold", "Kelpline")]
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.about("nobody")


def test_a_purged_subject_leaves_no_byte(memory: Engine, tmp_path: Path) -> None:
    filled(memory)
    memory.recall("does Mari like quokkas and saxophones?")
    memory.recall("which flowers grow?")
    assert b"quokkas" in bytes_of(tmp_path)
    removed = Graph(memory).entities.purge("Mari")
    assert len(removed.memories) == 4
    assert sorted(each.id for each in memory.list(hidden=True).memories) == ["flowers", "other"]
    for trace in (b"oolong", b"quiet carriage", b"allergy", b"quokkas", b"sang", b"trains"):
        assert trace not in bytes_of(tmp_path)
    assert b"saxophones" not in bytes_of(tmp_path), "a question is about somebody, too"
    assert b"which flowers grow?" in bytes_of(tmp_path)
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.about("Mari")
    assert [each.source for each in Graph(memory).entities.relations()] == ["Tomasz"]
    assert memory.admin.check() == []


def test_a_question_with_a_surname_alone_is_about_somebody_too(memory: Engine, tmp_path: Path) -> None:
    memory.remember("Anna Quokkaberg sails.")
    memory.remember("Tea is in the tin.")
    Graph(memory).entities.describe("Anna Quokkaberg", aliases=["Zebedee the Brave"])
    for question in ("does quokkaberg like it?", "was Zebedee here?", "where is the tea, and who was brave?"):
        memory.recall(question)
    memory.recall("what is in the tin?")
    Graph(memory).entities.purge("Anna Quokkaberg")
    asked = [each.query for each in memory.store.recalls.list("default")]
    assert asked == ["what is in the tin?", None, None, None]
    for trace in (b"quokkaberg", b"Quokkaberg", b"Zebedee"):
        assert trace not in bytes_of(tmp_path)


def test_what_was_only_declared_can_be_purged_and_no_late_log_brings_it_back(
    memory: Engine, tmp_path: Path
) -> None:
    memory.remember("Tea is in the tin.")
    Graph(memory).entities.describe("Quokkaberg", type="person")
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as elsewhere:
        elsewhere.recall("where does Quokkaberg live?")
        assert Graph(memory).entities.purge("Quokkaberg").memories == ()
        assert memory.store.changes(0, 99)[-1].kind == "purge"
        elsewhere.recall_log.flush()
    assert memory.store.recalls.list("default") == []
    assert b"Quokkaberg" not in bytes_of(tmp_path)
    assert memory.admin.check() == []


def test_a_summary_goes_with_what_it_repeats(memory: Engine, tmp_path: Path) -> None:
    memory.remember("The oolong is in the tin.", id="a")
    memory.remember("Something else.", id="b")
    memory.remember("Oolong, mostly.", id="sum", metadata={SUMMARY_OF: ["a", "b"]})
    memory.remember("Tea in short.", id="sums", metadata={SUMMARY_OF: ["sum"]})
    memory.purge("b")
    assert [each.id for each in memory.list().memories] == ["a"]
    assert b"Oolong, mostly" not in bytes_of(tmp_path)
    with pytest.raises(MemoryNotFound):
        memory.purge("b")


def test_what_was_said_again_goes_with_what_it_repeats(memory: Engine, tmp_path: Path) -> None:
    first = memory.remember("The safe opens with quokka.", id="first")
    assert memory.remember("The safe opens with quokka!", id="exact").id == first.id
    assert memory.remember("The safe opens with the quokka.", id="near").id == first.id
    # What it sets right says something else, and is current again.
    memory.remember("The safe is in the kitchen.", id="kitchen")
    corrected = memory.correct("kitchen", "The safe is in the hall.")
    memory.purge(first.id, corrected.id)
    assert [each.id for each in memory.list(hidden=True).memories] == ["kitchen"]
    assert b"quokka" not in bytes_of(tmp_path)
    assert memory.admin.check() == []


def test_what_was_cleared_up_goes_with_what_stayed(memory: Engine, tmp_path: Path) -> None:
    texts = ["The safe opens with quokka", "The safe opens with quokka today", "the safe opens with quokka."]
    for strategy in ("keep_highest_confidence", "merge"):
        memory.remember_many(texts, duplicates="off")
        memory.admin.duplicates.supersede(
            memory.admin.duplicates.find(strategy=strategy).groups, strategy=strategy
        )
        memory.purge(*(each.id for each in memory.list().memories))
        assert list(memory.store.export(None)) == []
        assert b"quokka" not in bytes_of(tmp_path)


def test_what_came_from_elsewhere_goes_with_what_has_its_words(memory: Engine) -> None:
    memory.remember("The safe opens with quokka.", id="first")
    memory.remember("The safe opens with quokka.", id="again")
    memories, hidden = list(memory.store.export(None)), memory.store.hidden("default")
    # An export of before it told which memories repeat others.
    hidden = [replace(each, repeat=None) for each in hidden]
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as other:
        other.admin.transfer.import_records(memories, hidden={"default": hidden})
        assert other.admin.duplicates.repeats("first") == ()
        other.purge("first")
        assert list(other.store.export(None)) == []


def test_a_purged_namespace_leaves_no_byte_and_its_name_is_free(memory: Engine, tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as elsewhere:
        memory.remember("Anna stays.", id="stays")
        with memorata.open(
            tmp_path / "m.db", embedder="lexical", namespace="acme/quokka", clock=lambda: NOW
        ) as other:
            filled(other)
            other.remember_many([{"content": f"oolong number {number}"} for number in range(600)])
            other.recall("oolong")
        for engine in (memory, elsewhere):
            assert engine.recall("oolong", namespace="acme/quokka").hits
            assert Graph(engine).entities.get("Mari", namespace="acme/quokka").relations == 1
            assert Graph(engine).near(0, 0, namespace="acme/quokka") == ()
        assert memory.admin.namespaces.purge("acme/quokka") == 606
        found = bytes_of(tmp_path)
        for trace in (b"quokka", b"oolong", b"Marigold", b"trains", b"Kelpline"):
            assert trace not in found
        for engine in (memory, elsewhere):
            assert engine.recall("oolong", namespace="acme/quokka").hits == ()
            assert Graph(engine).entities.list(namespace="acme/quokka") == ()
            assert list(engine.store.namespaces()) == ["default"]
            assert [each.id for each in engine.list().memories] == ["stays"]
        assert memory.admin.check() == []
        # Another of the same name is another, also for those who knew the first.
        memory.remember("Marigold drinks water.", namespace="acme/quokka", place={"lat": 1, "lon": 1})
        for engine in (elsewhere, memory):
            assert len(engine.recall("Marigold", namespace="acme/quokka").hits) == 1
            assert Graph(engine).entities.get("Marigold", namespace="acme/quokka").memories == 1
            assert len(Graph(engine).near(1, 1, namespace="acme/quokka")) == 1
            with pytest.raises(EntityNotFound):
                Graph(engine).entities.get("Mari", namespace="acme/quokka")
        assert memory.admin.check() == []


def test_what_is_not_there_cannot_be_purged(memory: Engine) -> None:
    for namespace in ("nobody", "a//b"):
        with pytest.raises(InvalidArgument, match="namespace"):
            memory.admin.namespaces.purge(namespace)
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.purge("nobody")
