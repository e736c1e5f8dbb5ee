"""Namespaces linked, moved and split, with all that they hold, on both databases."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memorata import Engine
from memorata.embed import LexicalEmbedder
from memorata.model import InvalidArgument, Memory
from memorata.store.store import Store
from memorata.text import RuleExtractor, analyser
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory(store: Store) -> Engine:
    engine = Engine(store, LexicalEmbedder(), analyser("plain"), clock=lambda: NOW, extractor=RuleExtractor())
    engine.remember("The team deploys on Fridays.", namespace="acme", id="deploy")
    engine.remember("The salaries are secret.", namespace="acme", id="pay", tags=["private"])
    engine.remember("The api is written in Go.", namespace="acme/api", id="go")
    engine.remember("Indent with four spaces.", namespace="style", id="indent", category="rule")
    engine.remember("Blue is a fine colour.", namespace="style", id="blue")
    return engine


def everything(memory: Engine, path: str) -> list[Memory]:
    """Return all memories of a namespace as if it were another's; not how often they were written."""
    listed = memory.list(namespace=path, hidden=True, oldest_first=True, limit=100).memories
    return [replace(each, namespace="x", version=1) for each in listed]


def seen(memory: Engine, query: str, path: str) -> set[str]:
    return {
        hit.memory.id for hit in memory.admin.namespaces.recall(query, [path], inherit=True, min_confidence=0)
    }


def test_links_are_seen_by_who_inherits_and_private_memories_are_not(memory: Engine) -> None:
    assert seen(memory, "what?", "acme/api") == {"go", "deploy"}
    memory.admin.namespaces.link("style", namespace="acme", filter={"category": "rule"})
    assert seen(memory, "what?", "acme/api") == {"go", "deploy", "indent"}
    hit = memory.admin.namespaces.recall("how to indent?", ["acme/api"], inherit=True).hits[0]
    assert (hit.memory.namespace, hit.memory.id) == ("style", "indent")
    memory.admin.namespaces.link("style", namespace="acme")
    assert seen(memory, "what?", "acme/api") == {"go", "deploy", "indent", "blue"}
    assert seen(memory, "what?", "acme") == {"deploy", "pay", "indent", "blue"}
    assert [(each.namespace, each.filter) for each in memory.admin.namespaces.links(namespace="acme")] == [
        ("style", None)
    ]
    memory.admin.namespaces.unlink("style", namespace="acme")
    assert memory.admin.namespaces.links(namespace="acme") == ()
    assert seen(memory, "what?", "acme/api") == {"go", "deploy"}


def test_a_filter_of_the_caller_holds_in_what_is_linked(memory: Engine) -> None:
    memory.admin.namespaces.link("style", namespace="acme/api")
    found = memory.admin.namespaces.recall(
        "what?", ["acme/api"], inherit=True, filter={"category": "rule"}, min_confidence=0
    )
    assert [hit.memory.id for hit in found] == ["indent"]


def test_links_of_what_is_linked_are_not_followed(memory: Engine) -> None:
    memory.remember("Never seen.", namespace="far", id="far")
    memory.admin.namespaces.link("far", namespace="style")
    memory.admin.namespaces.link("style", namespace="acme/api")
    memory.admin.namespaces.link("acme/api", namespace="style")
    assert "far" not in seen(memory, "what?", "acme/api")


def test_who_may_not_read_a_namespace_is_told_that_it_is_left_out(memory: Engine) -> None:
    result = memory.admin.namespaces.recall(
        "what?", ["acme/api"], inherit=True, allows=lambda path: path == "acme/api", min_confidence=0
    )
    assert {hit.memory.id for hit in result} == {"go"}
    assert "1 of 2 namespaces are left out, for they may not be read" in result.degraded


def test_links_are_checked(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="another namespace"):
        memory.admin.namespaces.link("acme", namespace="acme")
    with pytest.raises(InvalidArgument, match="filter"):
        memory.admin.namespaces.link("style", namespace="acme", filter={"colour": 1})
    with pytest.raises(InvalidArgument, match="is linked to"):
        memory.admin.namespaces.unlink("style", namespace="acme")


def test_a_namespace_moves_with_all_that_it_holds(memory: Engine) -> None:
    old = memory.remember("Anna works in Oslo.", namespace="acme", id="oslo")
    memory.correct(old.id, "Anna works in Bergen.", namespace="acme")
    Graph(memory).entities.relate("Anna", "knows", "Bob", namespace="acme")
    Graph(memory).entities.describe("Anna", aliases=["Annie"], namespace="acme")
    recipe = memory.admin.recipes.get("balanced").changed({"vector_weight": 0.3})
    memory.admin.recipes.save("mine", recipe, namespace="acme")
    memory.admin.recipes.use("mine", namespace="acme")
    memory.admin.namespaces.link("acme/api", namespace="style")
    memory.admin.namespaces.link("style", namespace="acme")
    asked = memory.recall("where does Anna work?", namespace="acme")
    before, below = everything(memory, "acme"), everything(memory, "acme/api")
    relations = Graph(memory).entities.relations("Annie", namespace="acme")

    moved = memory.admin.namespaces.move("acme", "beta/deep")
    assert moved == {"acme": "beta/deep", "acme/api": "beta/deep/api"}
    assert set(memory.store.namespaces()) == {"style", "beta/deep", "beta/deep/api"}
    assert everything(memory, "beta/deep") == before
    assert everything(memory, "beta/deep/api") == below
    again = memory.recall("where does Anna work?", namespace="beta/deep")
    assert [(hit.memory.id, hit.score) for hit in again] == [(hit.memory.id, hit.score) for hit in asked]
    assert again.recipe == asked.recipe == "mine"
    assert Graph(memory).entities.relations("Annie", namespace="beta/deep") == relations
    assert [each.namespace for each in memory.admin.namespaces.links(namespace="style")] == ["beta/deep/api"]
    assert [each.namespace for each in memory.admin.namespaces.links(namespace="beta/deep")] == ["style"]
    assert memory.list(namespace="acme", hidden=True).memories == ()
    assert memory.recall("where does Anna work?", namespace="acme").hits == ()
    memory.remember("A new beginning.", namespace="acme")
    memory.remember("Anna likes tea.", namespace="beta/deep")
    assert [hit.memory.content for hit in memory.recall("beginning", namespace="acme")] == [
        "A new beginning."
    ]
    assert memory.admin.check() == []


def test_a_namespace_can_move_back(memory: Engine) -> None:
    before = everything(memory, "style")
    memory.admin.namespaces.move("style", "other")
    memory.admin.namespaces.move("other", "style")
    assert everything(memory, "style") == before
    assert memory.recall("how to indent?", namespace="style").hits[0].memory.id == "indent"
    assert memory.admin.check() == []


def test_a_namespace_moves_alone_or_not_at_all(memory: Engine) -> None:
    for source, target, message in (
        ("acme", "style", "nothing was written to"),
        ("acme", "acme/api/x", "nor below it"),
        ("acme", "acme", "neither"),
        ("nobody", "somebody", "one that there is"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            memory.admin.namespaces.move(source, target)
    memory.remember("In the way.", namespace="beta/api")
    with pytest.raises(InvalidArgument, match="nothing was written to"):
        memory.admin.namespaces.move("acme", "beta")
    assert set(memory.store.namespaces()) == {"acme", "acme/api", "style", "beta/api"}
    assert memory.admin.namespaces.move("acme", "beta", below=False) == {"acme": "beta"}
    assert set(memory.store.namespaces()) == {"beta", "acme/api", "style", "beta/api"}


def test_a_split_moves_what_passes_and_what_belongs_to_it(memory: Engine) -> None:
    old = memory.remember("Anna works in Oslo.", namespace="acme", tags=["hr"])
    new = memory.correct(old.id, "Anna works in Bergen.", namespace="acme", tags=[])
    memory.remember("Anna works in Bergen.", namespace="acme")
    Graph(memory).entities.relate("Anna", "knows", "Bob", memory=new.id, namespace="acme")
    Graph(memory).entities.describe("Anna", type="person", namespace="acme")
    wanted = memory.admin.namespaces.split({"tags": "hr"}, "acme/people", namespace="acme", dry_run=True)
    assert set(wanted) >= {old.id, new.id}
    before = [each for each in everything(memory, "acme") if each.id in wanted]
    asked = memory.recall("where does Anna work?", namespace="acme").hits[0].memory.id

    assert memory.admin.namespaces.split({"tags": "hr"}, "acme/people", namespace="acme") == wanted
    assert everything(memory, "acme/people") == before
    found = memory.recall("where does Anna work?", namespace="acme/people").hits[0].memory
    assert (found.id, found.embedder != "") == (asked, True)
    assert next(each.id for each in memory.history(new.id, namespace="acme/people")) == old.id
    (relation,) = Graph(memory).entities.relations("Anna", namespace="acme/people")
    assert (relation.target, relation.asserted_by) == ("Bob", new.id)
    assert Graph(memory).entities.get("Anna", namespace="acme/people").entity.type == "person"
    assert not {each.id for each in everything(memory, "acme")} & set(wanted)
    assert memory.recall("where does Anna work?", namespace="acme").hits == ()
    assert memory.admin.check() == []


def test_what_was_logged_goes_where_all_that_it_showed_goes(memory: Engine) -> None:
    alone = memory.recall("four spaces", namespace="style", limit=1)
    assert [hit.memory.id for hit in alone] == ["indent"]
    both = memory.recall("four spaces blue colour", namespace="style", min_confidence=0)
    assert {hit.memory.id for hit in both} == {"indent", "blue"}
    memory.admin.feedback.record(alone.id, "indent", "thumbs", namespace="style")
    memory.admin.feedback.record(both.id, "blue", "thumbs", "down", namespace="style")
    memory.recall_log.flush()
    before = {each.id: each for each in memory.store.recalls.list("style")}
    memory.admin.namespaces.split({"category": "rule"}, "rules", namespace="style")

    (moved,) = memory.store.recalls.list("rules")
    assert (moved.id, moved.query, moved.at, moved.ids) == (alone.id, "four spaces", NOW, ("indent",))
    assert moved.of("indent") == before[alone.id].of("indent")
    (stayed,) = memory.store.recalls.list("style")
    assert (stayed.id, stayed.ids) == (both.id, ("blue",))
    told = {path: memory.store.feedback.list(path) for path in ("style", "rules")}
    assert [each.feedback.memory_id for each in told["style"]] == ["blue"]
    (given,) = told["rules"]
    assert (given.feedback.memory_id, given.feedback.recall_id) == ("indent", alone.id)
    assert given.features == before[alone.id].of("indent")
    assert memory.admin.check() == []


def test_a_split_moves_all_or_nothing(memory: Engine) -> None:
    memory.remember("Another one.", namespace="other", id="blue")
    with pytest.raises(InvalidArgument, match="without a memory blue"):
        memory.admin.namespaces.split({"id": {"exists": True}}, "other", namespace="style")
    for filter_, target, message in (
        ({}, "new", "at least one condition"),
        ({"category": "rule"}, "style", "another namespace"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            memory.admin.namespaces.split(filter_, target, namespace="style")
    assert len(everything(memory, "style")) == 2
    assert memory.admin.namespaces.split({"category": "none"}, "new", namespace="style") == ()
    assert memory.admin.namespaces.split({"category": "rule"}, "other", namespace="style") == ("indent",)
    assert {each.id for each in everything(memory, "other")} == {"blue", "indent"}
    assert memory.recall("four spaces", namespace="other").hits[0].memory.id == "indent"
