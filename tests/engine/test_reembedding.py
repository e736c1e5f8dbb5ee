"""Changing the embedder, and embedding what had to wait: nothing is mixed or lost, and it is said."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.admin import duration
from memorata.model.errors import EmbedderError, InvalidArgument, ServiceUnreachable
from memorata.model.query import Query

OLD, NEW = LexicalEmbedder(dimension=32), LexicalEmbedder(dimension=64)
TEXTS = [f"thought number {number} about tea" for number in range(300)]


class Failing(LexicalEmbedder):
    """An embedder that cannot read texts with a bad word in them, or, broken, none at all."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__(dimension=64)
        self.broken = broken
        self.size = 64

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.broken or any("unreadable" in text for text in texts):
            raise EmbedderError("it is down" if self.broken else "one of these cannot be read")
        return [rows[:, : self.size] for rows in super().embed_passages(texts)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of 300 memories in two namespaces, one of them forgotten, with the vectors of `OLD`."""
    made = tmp_path / "m.db"
    with memorata.open(made, embedder=OLD) as memory:
        ids = [each.id for each in memory.remember_many(TEXTS)]
        memory.remember("tea for somebody else", namespace="acme")
        memory.forget(ids[7])
    return made


def vectors(memory: memorata.Engine) -> dict[str, list[float]]:
    """Return the first vector of every memory that has one of the engine's embedder."""
    found = {}
    for path in memory.store.namespaces():
        with memory.store.view(path, memory.runtime.clock()) as view:
            slots = np.arange(len(view._partition))
            for each, row in zip(view.memories(slots), view.vectors(slots), strict=True):
                found[each.content] = row.tolist()
    return found


def test_another_embedder_is_noticed_and_explained(path: Path) -> None:
    with memorata.open(path, embedder=NEW) as memory:
        [note] = memory.notes
        assert "301 memories have no vector of lexical-64" in note
        assert "`memorata admin reembed` is done, in about " in note
        assert f"301 of {OLD.name}" in note
        answer = memory.recall("thought number 5")
        assert answer.hits[0].memory.content == TEXTS[5]
        assert answer.degraded == ("300 memories have no vector of this embedder yet; words only for those",)
    with memorata.open(path, embedder=OLD) as memory:
        assert memory.notes == ()


def test_an_embedder_that_cannot_be_measured_is_explained_all_the_same(path: Path) -> None:
    with memorata.open(path, embedder=Failing(broken=True)) as memory:
        assert "could not be measured: it is down" in memory.notes[0]


def test_a_dry_run_counts_and_measures_and_writes_nothing(path: Path) -> None:
    with memorata.open(path, embedder=NEW) as memory:
        planned = memory.admin.reembed(dry_run=True)
        assert (planned.waiting, planned.others, planned.dry_run) == (301, {OLD.name: 301}, True)
        assert planned.seconds > 0
        assert (planned.embedded, planned.dropped) == (0, 0)
        assert memory.store.count_waiting() == 301


def test_reembedding_ends_with_the_vectors_of_a_fresh_store(path: Path, tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    with memorata.open(path, embedder=NEW) as memory:
        done = memory.admin.reembed(batch=100, progress=lambda count, total: heard.append((count, total)))
        assert heard == [(100, 301), (200, 301), (300, 301), (301, 301)]
        assert (done.waiting, done.embedded, done.dropped, done.failed) == (301, 301, 301, ())
        assert memory.admin.check() == []
        assert memory.recall("thought number 5").degraded == ()
        found = vectors(memory)
        assert {each.embedder for each in memory.store.export(None)} == {NEW.name}
    with memorata.open(tmp_path / "fresh.db", embedder=NEW) as fresh:
        fresh.remember_many(TEXTS)
        fresh.remember("tea for somebody else", namespace="acme")
        assert found == vectors(fresh)
    with memorata.open(path, embedder=NEW) as memory:
        assert memory.notes == ()
        again = memory.admin.reembed()
        assert (again.waiting, again.embedded, again.dropped) == (0, 0, 0)


@pytest.mark.untraced
def test_half_way_vectors_of_the_one_are_used_and_never_those_of_the_other(path: Path) -> None:
    with memorata.open(path, embedder=NEW) as memory, memorata.open(path, embedder=OLD) as other:
        assert other.recall("thought number 250").degraded == ()
        assert memory.admin.embed_pending(limit=100).embedded == 100
        answer = memory.recall("thought number 250")
        assert answer.hits[0].memory.content == TEXTS[250]
        assert answer.degraded == ("200 memories have no vector of this embedder yet; words only for those",)
        assert sum(any(row) for row in vectors(memory).values()) == 100
        # Who asks with the old embedder has all of its vectors until the last moment.
        assert other.recall("thought number 250").degraded == ()
        assert (memory.admin.check(), other.admin.check()) == ([], [])
        memory.admin.reembed()
        assert "300 memories have no vector" in other.recall("thought number 250").degraded[0]
        assert other.recall("thought number 250").hits[0].memory.content == TEXTS[250]
        # What is said with the old one in the meantime waits for the new one in turn.
        other.remember("a late thought")
        assert memory.admin.embed_pending().embedded == 1
        assert memory.admin.reembed().dropped == 1
        assert (memory.admin.check(), other.admin.check()) == ([], [])


def test_the_store_is_opened_with_the_new_embedder_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("tea")
        memory.store.remember_setting("embedder", "something-else")
        memory.admin.reembed()
        assert memory.store.setting("embedder") == "lexical"


def test_the_old_vectors_can_be_kept_to_go_back(path: Path) -> None:
    with memorata.open(path, embedder=NEW) as memory:
        assert memory.admin.reembed(keep_old=True).dropped == 0
        assert memory.admin.check() == []
    with memorata.open(path, embedder=OLD) as memory:
        assert memory.notes == ()
        assert memory.recall("thought number 5").degraded == ()


def test_a_memory_whose_embedder_failed_is_stored_and_repaired_later(tmp_path: Path) -> None:
    embedder = Failing(broken=True)
    with memorata.open(tmp_path / "m.db", embedder=embedder) as memory:
        said = memory.remember("Anna prefers green tea")
        assert memory.get(said.id).embedder == ""
        assert (
            "1 memory has no vector"
            in memory.recall(Query("tea", vector=np.zeros(64, np.float32))).degraded[0]
        )
        with pytest.raises(EmbedderError, match="it is down"):
            memory.admin.embed_pending()
        embedder.broken = False
        assert memory.admin.embed_pending().embedded == 1
        assert memory.get(said.id).embedder == embedder.name
        assert memory.recall("tea").degraded == ()
        assert memory.admin.check() == []


def test_vectors_of_the_wrong_size_count_as_a_failure(tmp_path: Path) -> None:
    embedder = Failing()
    embedder.size = 63
    with memorata.open(tmp_path / "m.db", embedder=embedder) as memory:
        said = memory.remember("Anna prefers green tea")
        assert (memory.get(said.id).content, memory.store.count_waiting()) == ("Anna prefers green tea", 1)
        with pytest.raises(EmbedderError, match="gave vectors of 63 dimensions where 64 were expected"):
            memory.admin.reembed()
        assert memory.admin.check() == []
        embedder.size = 64
        assert memory.admin.reembed().embedded == 1


def test_a_text_that_cannot_be_embedded_holds_up_no_other(path: Path) -> None:
    with memorata.open(path, embedder=OLD) as memory:
        bad = memory.remember("this is unreadable")
    with memorata.open(path, embedder=Failing()) as memory:
        done = memory.admin.reembed(batch=64)
        assert (done.waiting, done.embedded, done.dropped) == (302, 301, 302)
        [failed] = done.failed
        assert (failed.memory_id, failed.reason) == (bad.id, "one of these cannot be read")
        assert memory.get(bad.id).embedder == ""
        assert memory.admin.check() == []
        assert [hit.memory.id for hit in memory.recall("unreadable", recipe="bm25")] == [bad.id]


def test_an_embedder_that_is_down_is_not_asked_for_every_memory_and_changes_nothing(path: Path) -> None:
    with memorata.open(path, embedder=Failing(broken=True)) as memory:
        with pytest.raises(EmbedderError, match="it is down"):
            memory.admin.reembed()
        assert memory.store.other_vectors() == {OLD.name: 301}
        assert memory.admin.check() == []


class Leaving(LexicalEmbedder):
    """An embedder behind a service that answers so many times, and then as it is told."""

    def __init__(self, answers: int, status: int | None) -> None:
        super().__init__(dimension=64)
        self.answers = answers
        self.status = status
        self.asked = 0

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        self.asked += 1
        if self.asked > self.answers:
            raise ServiceUnreachable("it does not answer", self.status)
        return super().embed_passages(texts)


@pytest.mark.parametrize("status", [None, 429, 503])
def test_a_service_that_is_away_is_not_waited_for_again_and_nothing_is_dropped(
    path: Path, status: int | None
) -> None:
    # One question whether all is well, one batch of 295, and the last six find nobody there.
    leaving = Leaving(2, status)
    with memorata.open(path, embedder=leaving) as memory:
        leaving.asked = 0
        with pytest.raises(ServiceUnreachable):
            memory.admin.reembed(batch=295)
        assert leaving.asked == 3
        assert memory.store.count_waiting() == 6
        assert memory.store.other_vectors() == {OLD.name: 301}


def test_a_service_that_comes_to_grief_by_one_text_is_asked_for_the_others(path: Path) -> None:
    leaving = Leaving(1, 500)
    with memorata.open(path, embedder=leaving) as memory:
        leaving.asked = 0
        assert len(memory.admin.embed_pending(batch=100, limit=103).failed) == 3
        assert leaving.asked == 1 + 1 + 3


def test_without_an_embedder_there_is_nothing_to_embed_with(path: Path) -> None:
    with memorata.open(path, embedder=None) as memory:
        assert memory.notes == ()
        for verb in (memory.admin.reembed, memory.admin.embed_pending):
            with pytest.raises(EmbedderError, match="there is no embedder"):
                verb()


def test_bad_arguments_are_refused(path: Path) -> None:
    with memorata.open(path, embedder=OLD) as memory:
        with pytest.raises(InvalidArgument, match="batch must be"):
            memory.admin.reembed(batch=0)
        with pytest.raises(InvalidArgument, match="limit must be"):
            memory.admin.embed_pending(limit=-1)
        with pytest.raises(InvalidArgument, match="dry_run must be"):
            memory.admin.reembed(dry_run="yes")  # type: ignore[arg-type]


def test_times_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (0, 1.6, 119, 120, 7199, 7200)] == [
        "a second", "2 seconds", "119 seconds", "2 minutes", "120 minutes", "2 hours",
    ]  # fmt: skip
