"""The verbs, end to end, on a store in memory with the lexical embedder."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.embed import LexicalEmbedder
from memorata.model import InvalidArgument, Memory, Place, Source, Tier
from memorata.model.errors import EmbedderError, MemoryNotFound
from memorata.model.query import When

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        yield engine


def contents(memory: Engine, question: str, namespace: str | None = None, **when: Any) -> list[str]:
    result = memory.recall(question, namespace=namespace, when=When(**when))
    return [hit.memory.content for hit in result]


def test_what_was_said_comes_back_verbatim(memory: Engine) -> None:
    said = "  Anna’s *tea*:\n\tgreen — 80 °C 🍵  "
    kept = memory.remember(
        said, category="preference", confidence=0.9, tags=["drinks"], metadata={"room": 12}
    )
    again = memory.get(kept.id)
    assert again == kept
    assert again.content == said
    assert (again.created_at, again.version, again.mentions) == (START, 1, 1)
    assert len(again.fingerprint) == 32
    assert again.embedder.startswith("lexical")


def test_every_detail_is_kept(memory: Engine) -> None:
    kept = memory.remember(
        "The review moved to Room 12.",
        id="review-1",
        tier="episodic",
        importance=0.8,
        entities=("Room 12",),
        source={"speaker": "Ben", "session": "s1", "position": 3, "link": "chat://1"},
        place={"lat": 53.55, "lon": 9.99, "name": "Hamburg"},
        valid_from=START - timedelta(days=1),
        expires_at=START + timedelta(days=30),
    )
    assert memory.get("review-1") == kept
    assert kept.tier is Tier.EPISODIC
    assert kept.source == Source("Ben", "s1", 3, "chat://1")
    assert kept.place == Place(53.55, 9.99, "Hamburg")


@pytest.mark.parametrize(
    ("details", "argument"),
    [
        ({"catgory": "fact"}, "details"),
        ({"confidence": 1.1}, "confidence"),
        ({"tags": "drinks"}, "tags"),
        ({"created_at": datetime(2026, 1, 1)}, "created_at"),
        ({"place": {"lat": 1}}, "place"),
        ({"source": {"who": "Ben"}}, "source"),
        ({"id": "has space"}, "id"),
        ({"supersedes": ("nobody",)}, None),
    ],
)
def test_bad_details_write_nothing(memory: Engine, details: dict[str, Any], argument: str | None) -> None:
    with pytest.raises((InvalidArgument, MemoryNotFound)) as caught:
        memory.remember("x", **details)
    if argument is not None:
        assert getattr(caught.value, "argument", None) == argument
    assert memory.list().memories == ()


def test_a_batch_is_all_or_nothing(memory: Engine) -> None:
    memory.remember("already here", id="taken")
    with pytest.raises(InvalidArgument, match="id must be an id that is not taken yet, got 'taken'"):
        memory.remember("again", id="taken")
    with pytest.raises(InvalidArgument, match="got 'twice'"):
        memory.remember_many([{"content": "a", "id": "twice"}, {"content": "b", "id": "twice"}])
    assert [kept.id for kept in memory.list().memories] == ["taken"]


@pytest.mark.untraced
def test_running_an_import_again_adds_nothing(memory: Engine) -> None:
    items = [{"content": f"thought {number}", "id": f"t{number}"} for number in range(1_500)]
    done: list[int] = []
    assert len(memory.remember_many(items, progress=done.append)) == 1_500
    assert done == [1_000, 1_500]
    assert memory.remember_many(items) == []
    assert memory.store.statistics()["memories"] == 1_500


def test_memories_can_be_taken_as_they_are(memory: Engine) -> None:
    made = Memory(id="m1", content="Yesterday Anna saw Ben", created_at=START)
    (kept,) = memory.remember_many([made], verbatim=True)
    assert (kept.entities, kept.valid_from, dict(kept.metadata)) == ((), None, {})
    (read,) = memory.remember_many([replace(made, id="m2")])
    assert read.entities == ("Anna", "Ben")
    with pytest.raises(InvalidArgument, match="verbatim"):
        memory.remember_many([made], verbatim=1)  # type: ignore[arg-type]


def test_a_correction_takes_the_place_and_the_old_stays_readable(memory: Engine, clock: Clock) -> None:
    old = memory.remember("Anna lives in Hamburg.", category="personal_fact", tags=["home"])
    clock.pass_days(10)
    new = memory.correct(old.id, "Anna lives in Lisbon.")
    assert (new.category, new.tags, new.supersedes) == ("personal_fact", ("home",), (old.id,))
    assert contents(memory, "where does Anna live?") == ["Anna lives in Lisbon."]
    assert memory.get(old.id).superseded_by == new.id
    assert memory.get(old.id).valid_to == new.created_at
    assert [kept.content for kept in memory.history(old.id)] == [old.content, new.content]
    assert memory.history(new.id) == memory.history(old.id)
    assert contents(memory, "where does Anna live?", as_of=START + timedelta(days=5)) == [old.content]


def test_what_was_believed_does_not_know_of_what_was_corrected_later(memory: Engine, clock: Clock) -> None:
    bern = memory.remember("Anna lives in Bern.")
    clock.pass_days(150)
    february, march = START + timedelta(days=30), START + timedelta(days=60)
    basel = memory.correct(bern.id, "Anna lives in Basel.", valid_from=february)
    asked = "where does Anna live?"
    assert contents(memory, asked, true_at=march) == [basel.content]
    assert contents(memory, asked, as_of=march, true_at=march) == [bern.content]
    assert contents(memory, asked, as_of=clock(), true_at=march) == [basel.content]
    assert contents(memory, asked, as_of=march, true_at=START) == [bern.content]


def test_a_correction_is_dated_by_its_own_words(memory: Engine) -> None:
    old = memory.remember("We sailed yesterday.", metadata={"boat": "Ada"})
    assert old.valid_from is not None
    new = memory.correct(old.id, "We sailed on 3 March 2024.")
    assert (new.valid_from, dict(new.metadata)) == (
        datetime(2024, 3, 3, tzinfo=UTC),
        {"boat": "Ada", "time_phrase": "3 March 2024"},
    )
    undated = memory.correct(new.id, "We never sailed.")
    assert (undated.valid_from, dict(undated.metadata)) == (None, {"boat": "Ada"})
    given = memory.correct(undated.id, "We rowed yesterday.", metadata={"time_phrase": "once"})
    assert (given.valid_from, dict(given.metadata)) == (None, {"time_phrase": "once"})


@pytest.mark.parametrize(
    ("name", "old", "new", "kept"),
    [
        ("Berlin", "Anna lives in Berlin.", "Anna lives in Porto.", False),
        ("Berlin", "Anna lives in Berlin.", "Anna and Bo live in BERLIN.", True),
        ("Café Nord, Berlin", "We met in Berlin.", "We met at the cafe Nord.", True),
        ("Café Nord, Berlin", "We met in Berlin.", "We met in Rome.", False),
        ("Berlin", "We met at noon.", "We met at one.", True),
        ("", "We met at noon.", "We met in Porto.", True),
    ],
)
def test_a_correction_lies_where_the_old_one_did_unless_its_words_took_that_back(
    memory: Engine, name: str, old: str, new: str, kept: bool
) -> None:
    said = memory.remember(old, place=Place(52.5, 13.4, name))
    assert memory.correct(said.id, new).place == (Place(52.5, 13.4, name) if kept else None)


def test_a_correction_may_say_where_it_was(memory: Engine) -> None:
    said = memory.remember("Anna lives in Berlin.", place=Place(52.5, 13.4, "Berlin"))
    moved = memory.correct(said.id, "Anna lives in Porto.", place={"lat": 41.1, "lon": -8.6, "name": "Porto"})
    assert moved.place == Place(41.1, -8.6, "Porto")
    assert memory.correct(moved.id, "Anna still lives in Porto.", place=None).place is None


def test_a_correction_of_what_is_pinned_is_pinned(memory: Engine) -> None:
    old = memory.remember("Anna must not eat nuts.", pinned=True)
    assert memory.correct(old.id, "Anna must not eat peanuts.").pinned


def test_a_correction_expires_when_what_it_corrects_would_have(memory: Engine, clock: Clock) -> None:
    tomorrow = START + timedelta(days=1)
    old = memory.remember("The code of the door is 1234.", expires_at=tomorrow)
    new = memory.correct(old.id, "The code of the door is 4321.")
    assert new.expires_at == tomorrow
    assert memory.correct(new.id, "The code is 4711.", pinned=True).expires_at is None
    late = memory.remember("The guest comes at ten.", expires_at=tomorrow)
    later = memory.correct(late.id, "The guest comes at noon.", expires_at=tomorrow + timedelta(days=1))
    assert later.expires_at == tomorrow + timedelta(days=1)
    assert memory.correct(later.id, "The guest lives here.", expires_at=None).expires_at is None
    gone = memory.remember("The shop closes at six.", expires_at=tomorrow)
    clock.pass_days(2)
    assert memory.correct(gone.id, "The shop closes at eight.").expires_at is None


def test_a_memory_can_be_corrected_once(memory: Engine) -> None:
    old = memory.remember("It is Monday.")
    new = memory.correct(old.id, "It is Tuesday.")
    with pytest.raises(InvalidArgument, match=f"correct or supersede '{new.id}' instead"):
        memory.correct(old.id, "It is Friday.")
    memory.correct(new.id, "It is Wednesday.")
    assert [kept.content for kept in memory.history(old.id)] == [
        "It is Monday.",
        "It is Tuesday.",
        "It is Wednesday.",
    ]


def test_forgetting_hides_and_can_be_undone(memory: Engine) -> None:
    kept = memory.remember("The door code is 4711.")
    memory.forget(kept.id)
    assert contents(memory, "door code") == []
    assert memory.list().memories == ()
    assert [found.id for found in memory.list(hidden=True).memories] == [kept.id]
    memory.restore(kept.id)
    assert contents(memory, "door code") == [kept.content]


def test_purging_removes_for_good(memory: Engine) -> None:
    kept = memory.remember("The door code is 4711.")
    memory.purge(kept.id)
    with pytest.raises(MemoryNotFound, match=f"no memory '{kept.id}' in namespace 'default'"):
        memory.get(kept.id)
    assert contents(memory, "door code") == []
    assert memory.admin.check() == []


def test_what_has_expired_is_not_shown(memory: Engine, clock: Clock) -> None:
    memory.remember("The sale ends soon.", expires_at=START + timedelta(days=1))
    assert contents(memory, "sale") == ["The sale ends soon."]
    clock.pass_days(2)
    assert contents(memory, "sale") == []
    assert contents(memory, "sale", now=START) == ["The sale ends soon."]


def test_namespaces_keep_people_apart(memory: Engine) -> None:
    memory.remember("Anna likes tea.", namespace="acme/anna")
    memory.remember("Ben likes tea.", namespace="acme/ben")
    assert contents(memory, "who likes tea?", namespace="acme/anna") == ["Anna likes tea."]
    assert contents(memory, "who likes tea?") == []
    with pytest.raises(InvalidArgument, match="namespace must be a path"):
        memory.remember("x", namespace="acme/../ben")


class Broken:
    """An embedder whose service is down."""

    def __init__(self) -> None:
        self._real = LexicalEmbedder()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def embed_passages(self, texts: Any) -> Any:
        raise EmbedderError("the service is down")

    def embed_query(self, text: str) -> Any:
        raise EmbedderError("the service is down")


def test_a_scope_names_the_namespace_of_every_verb_and_facet(memory: Engine) -> None:
    bob = memory.scope("users/bob")
    said = bob.remember("Bob likes coffee", entities=["Bob"], category="drinks")
    assert said.namespace == bob.namespace == "users/bob"
    assert memory.namespace == "default"
    assert bob.scope() is bob.scope("users/bob") is bob
    assert [hit.memory.id for hit in bob.recall("coffee")] == [said.id]
    assert (memory.recall("coffee").hits, memory.list().memories) == ((), ())
    bob.admin.lifecycle.pin(said.id)
    assert bob.get(said.id).pinned
    bob.admin.recipes.use("bm25")
    assert (bob.admin.recipes.get().name, memory.admin.recipes.get().name) == ("bm25", "balanced")
    with pytest.raises(MemoryNotFound):
        memory.forget(said.id)
    assert bob.forget(filter={"category": "drinks"}) == (said.id,)


def test_when_the_embedder_fails_nothing_is_lost_and_the_answer_says_so(clock: Clock) -> None:
    with memorata.open(":memory:", embedder=Broken(), clock=clock) as memory:
        memory.remember("Anna likes tea.")
        answer = memory.recall("tea")
        assert [hit.memory.content for hit in answer] == ["Anna likes tea."]
        assert answer.degraded == ("the embedder failed, words only: the service is down",)
        assert answer.embedder == ""
        memory.embedder = LexicalEmbedder()
        assert memory.recall("tea").degraded == (
            "1 memory has no vector of this embedder yet; words only for it",
        )


def test_without_an_embedder_words_still_answer() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember("Anna likes tea.")
        answer = memory.recall("tea")
        assert [hit.memory.content for hit in answer] == ["Anna likes tea."]
        assert answer.degraded == ("no embedder: words only",)


@pytest.mark.parametrize("items", ["abc", {"content": "tea"}, 5, None])
def test_one_thing_is_not_many(items: Any) -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        with pytest.raises(
            InvalidArgument, match="items must be a list of memories, mappings with a content"
        ):
            memory.remember_many(items)
        assert memory.list().memories == ()


def test_a_word_that_recall_does_not_know_is_told_in_public_words(memory: Engine) -> None:
    with pytest.raises(TypeError, match=r"^Engine\.recall\(\) got an unexpected keyword argument 'k'"):
        memory.recall("tea", k=3)  # type: ignore[call-arg]


def test_a_verb_written_short_is_the_same_words(memory: Engine) -> None:
    first = memory.remember("I'm from Oslo.")
    assert memory.remember("I am from Oslo.").id == first.id


def test_who_is_asked_about_weighs_more_than_who_is_named_by_accident(memory: Engine) -> None:
    for speaker, text in (
        ("Jonas", "Ines showed me the place where they all eat."),
        ("Ines", "I eat no meat."),
        ("Jonas", "I eat meat."),
    ):
        memory.remember(text, source={"speaker": speaker})
    assert memory.recall("What does Ines eat?").hits[0].content == "I eat no meat."


def test_who_is_asked_about_answers_before_who_only_asks_them(memory: Engine) -> None:
    for speaker, text in (
        ("Jonas", "Ines, was isst du?"),
        ("Ines", "Ich esse kein Fleisch, nur Fisch."),
        ("Jonas", "Ich esse gern Nudeln."),
    ):
        memory.remember(text, source={"speaker": speaker})
    assert memory.recall("Was isst Ines?").hits[0].content == "Ich esse kein Fleisch, nur Fisch."
