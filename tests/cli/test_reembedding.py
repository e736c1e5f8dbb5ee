"""reembed on the command line: what it would do, what it did, and what could not be done."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memorata.embed import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.embed.select import Choice
from memorata.model.errors import EmbedderError

Run = Callable[..., Any]


class Small(LexicalEmbedder):
    """Another embedder, which cannot read about headaches, and can be interrupted."""

    interrupts = False

    def __init__(self) -> None:
        super().__init__(dimension=64)

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.interrupts and len(texts) == 1:
            raise KeyboardInterrupt
        if any("headaches" in text for text in texts):
            raise EmbedderError("a headache")
        return super().embed_passages(texts)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> type[Small]:
    """Let the embedder "small" be known."""
    from memorata.embed import select

    usual = select.choose

    def choose(specification: str, resources: select.Resources | None = None) -> Choice:
        return Choice(Small(), "small") if specification == "small" else usual(specification, resources)

    monkeypatch.setattr(select, "choose", choose)
    return Small


@pytest.mark.usefixtures("tea")
def test_nothing_to_do_is_said(cli: Run) -> None:
    done = cli("reembed")
    assert (done.code, done.out) == (0, "every memory has its vector\n")


@pytest.mark.usefixtures("small", "tea")
def test_a_change_of_embedder_from_beginning_to_end(cli: Run) -> None:
    headache = cli("list", "--json").json["memories"][0]["id"]
    asked = cli("recall", "green tea", "--embedder", "small")
    assert "3 memories have no vector of lexical-64" in asked.err
    planned = cli("reembed", "--embedder", "small", "--dry-run")
    assert (planned.code, planned.out) == (4, "")
    assert "a headache" in planned.err
    cli("purge", headache, "--yes")
    planned = cli("reembed", "--embedder", "small", "--dry-run")
    assert (planned.code, planned.out) == (0, "would embed 2 memories, in about a second\n")
    done = cli("reembed", "--embedder", "small", "--batch", "1")
    assert (done.code, done.out) == (0, "embedded 2 memories in a second, removed 2 old vectors\n")
    assert cli("check").out == "sound\n"
    # From then on it is the store's own; naming the old one is what has to be explained.
    assert "no vector" not in cli("recall", "green tea", "--embedder", "auto").err
    assert cli("stats", "--json").json["vectors"][Small().name] == 2


@pytest.mark.usefixtures("small", "tea")
def test_what_cannot_be_embedded_is_listed_and_ends_with_4(cli: Run) -> None:
    done = cli("reembed", "--embedder", "small", "--keep-old", "--json")
    assert done.code == 4
    assert (done.json["embedded"], done.json["waiting"], done.json["dropped"]) == (2, 3, 0)
    assert [each["reason"] for each in done.json["failed"]] == ["a headache"]
    assert list(done.json["others"].values()) == [3]
    said = cli("reembed", "--embedder", "small")
    assert said.code == 4
    assert "a headache" in said.err
    assert cli("check").out == "sound\n"


@pytest.mark.usefixtures("tea")
def test_an_interruption_says_how_to_go_on(
    cli: Run, small: type[Small], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "interrupts", True)
    monkeypatch.setattr("memorata.engine.admin.Admin.notes", ())
    done = cli("reembed", "--embedder", "small", "--batch", "1")
    assert done.code == 130
    assert "3 memories to go; run the same again to go on." in done.err
    assert cli("check").out == "sound\n"


def test_more_failures_than_can_be_shown_are_counted(
    cli: Run, small: type[Small], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorata.cli.reembedding._SHOWN", 1)
    for text in ("headaches again", "Anna likes tea", "more headaches"):
        cli("remember", text)
    done = cli("reembed", "--embedder", "small")
    assert "… and 1 more; --json lists them all" in done.err


@pytest.mark.usefixtures("tea")
def test_at_a_terminal_the_progress_is_drawn_and_gone(cli: Run, small: type[Small]) -> None:
    done = cli("reembed", "--embedder", "small", terminal=True)
    assert "embedded 2 memories" in done.out


def test_indexes_are_made_and_it_is_said_how_searches_go(cli: Run, tea: str) -> None:
    done = cli("index", "--json").json
    assert done["made"] == 0
    assert done["methods"]["lexical"] == "own posting lists, BM25"
    shown = cli("index")
    assert shown.lines == ["nothing to index"]
    assert "vectors are searched by exact scan" in shown.err
