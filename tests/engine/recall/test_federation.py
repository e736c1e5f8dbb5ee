"""Recall over several namespaces: which are meant, and how their hits are merged."""

from collections.abc import Iterator

import pytest

import memorata
from memorata import Engine
from memorata.engine.recall.federation import MAX_NAMESPACES, expanded
from memorata.model.errors import InvalidArgument
from memorata.model.query import Query

EXISTING = {"acme": 1, "acme/api": 2, "acme/web": 1, "acmeus": 3}


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember("The team deploys on Fridays.", namespace="acme")
        engine.remember("The api is written in Go.", namespace="acme/api")
        engine.remember("The page is written in Elm.", namespace="acme/web")
        engine.remember("The weather was fine.", namespace="other")
        yield engine


@pytest.mark.parametrize(
    ("names", "inherit", "expected"),
    [
        (["acme/*"], False, ("acme", "acme/api", "acme/web")),
        (["acme/web", "acme/*"], False, ("acme/web", "acme", "acme/api")),
        (["acme/api", "nobody"], False, ("acme/api", "nobody")),
        (["a/b/c", "a/d"], True, ("a/b/c", "a/d", "a/b", "a")),
        ([], False, ()),
    ],
)
def test_which_namespaces_are_meant(names: list[str], inherit: bool, expected: tuple[str, ...]) -> None:
    assert tuple(expanded(names, lambda: EXISTING, inherit=inherit)) == expected


def test_mistakes() -> None:
    with pytest.raises(InvalidArgument, match="a list of namespaces"):
        expanded("acme", lambda: EXISTING)
    with pytest.raises(InvalidArgument):
        expanded(["/*"], lambda: EXISTING)
    with pytest.raises(InvalidArgument, match="at most"):
        expanded(["a/*"], lambda: [f"a/{number}" for number in range(MAX_NAMESPACES + 1)])


def test_the_likeliest_answer_comes_first_wherever_it_is(memory: Engine) -> None:
    result = memory.admin.namespaces.recall("when does the team deploy?", ["acme/*", "other"])
    assert result.hits[0].memory.namespace == "acme"
    assert [hit.confidence for hit in result] == sorted((hit.confidence for hit in result), reverse=True)


def test_a_namespace_sees_what_is_above_it_and_not_beside_it(memory: Engine) -> None:
    assert memory.admin.namespaces.recall("when do we deploy?", ["acme/api"]).hits == ()
    above = memory.admin.namespaces.recall(
        "what is written, when do we deploy?", ["acme/api"], inherit=True, min_confidence=0
    )
    assert {hit.memory.namespace for hit in above} == {"acme", "acme/api"}


def test_limit_and_budget_hold_for_all_together(memory: Engine) -> None:
    assert (
        len(memory.admin.namespaces.recall("written deploys", ["acme/*"], limit=2, min_confidence=0).hits)
        == 2
    )
    tight = memory.admin.namespaces.recall("written deploys", ["acme/*"], budget=8, min_confidence=0)
    assert len(tight.hits) == 1
    assert tight.omitted == 2


def test_nothing_anywhere_says_what_was_refused(memory: Engine) -> None:
    assert memory.admin.namespaces.recall("zebra quagga", ["acme/*"]).hits == ()
    assert memory.admin.namespaces.recall("deploy", []).hits == ()


def test_one_namespace_answers_as_recall_does(memory: Engine) -> None:
    alone = memory.recall("what is it written in?", namespace="acme/api", min_confidence=0)
    across = memory.admin.namespaces.recall("what is it written in?", ["acme/api"], min_confidence=0)
    assert [hit.memory.id for hit in across] == [hit.memory.id for hit in alone]


def test_options_of_one_namespace_are_refused(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="sessions"):
        memory.admin.namespaces.recall(Query("x", sessions=True), ["acme"])
