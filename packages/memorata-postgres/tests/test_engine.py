"""The engine on a server: every recipe recalls what it recalls from a file, and every door opens there."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

import memorata
from memorata import Query, When
from memorata.cli.app import app
from memorata.engine.engine import Engine
from memorata.engine.recipes import RECIPES
from memorata.engine.settings import Settings
from memorata.model.entity import Place, Relation
from memorata.model.errors import NotSupportedHere, ServerUnsuitable, StoreUnavailable
from memorata.model.memory import Source
from memorata.text.entities import Extraction
from memorata_graph import Graph
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import changed, with_password

START = datetime(2026, 5, 7, 12, tzinfo=UTC)
TURNS = (
    "Anna: Did you try the green tea from Lisbon?",
    "Ben: Yes, last summer, with Tom. It was better than coffee.",
    "Anna: The shop closed in March, sadly.",
    "Ben: Tom moved to Porto and works at the harbour now.",
    "Anna: Then we should visit him on his birthday.",
)
FACTS = (
    "Tom's birthday is on 12 June.",
    "Anna is allergic to walnuts.",
    "Ben plays chess every Sunday with his neighbour Zoë.",
    "Zoë repaired the red bicycle in the old house.",
)
QUESTIONS = (
    "who tried the tea from Lisbon?",
    "when is Tom's birthday?",
    "what happened in the summer?",
    '"red bicycle" -chess',
    'tea or the bicycle -"green tea" -"last summer"',
    'the birthday "on" -UAV-001',
    "where does the neighbour of Ben live?",
    "something nobody said",
)


def told(where: Any) -> Engine:
    clock = iter(START + timedelta(minutes=minute) for minute in range(100_000))
    engine = memorata.open(where, embedder="lexical", clock=lambda: next(clock))
    for position, turn in enumerate(TURNS):
        speaker, _, text = turn.partition(": ")
        engine.remember(text, id=f"t{position}", source=Source(speaker, "s1", position))
    engine.remember_many(
        [{"content": fact, "id": f"f{n}", "place": Place(52 + n, 13)} for n, fact in enumerate(FACTS)]
    )
    engine.remember(FACTS[1], id="again")
    engine.correct("f2", "Ben plays chess every Friday with his neighbour Zoë.")
    engine.forget("t2")
    Graph(engine).entities.relate("Tom", "works_at", "harbour")
    return engine


@pytest.fixture
def both(store: PostgresStore, used: str) -> Iterator[tuple[Engine, Engine]]:
    engines = told(":memory:"), told(used)
    yield engines
    for engine in engines:
        engine.close()


@pytest.mark.untraced
def test_every_recipe_recalls_what_it_recalls_from_a_file(both: tuple[Engine, Engine]) -> None:
    options: list[dict[str, Any]] = [{"recipe": name} for name in RECIPES]
    options += [
        {"when": When(as_of=START + timedelta(minutes=30))},
        {"filter": {"session": "s1"}},
    ]
    near: list[str | Query] = [Query(question, near=Place(53, 13)) for question in QUESTIONS]
    for given in options:
        for question in [*QUESTIONS, *near]:
            one, other = (engine.recall(question, **given) for engine in both)
            assert contents(other) == contents(one), (given, question)
            assert [hit.score for hit in other] == pytest.approx([hit.score for hit in one], abs=1e-6)
            assert other.degraded == one.degraded


def test_the_other_verbs_answer_alike(both: tuple[Engine, Engine]) -> None:
    one, other = both
    assert [each.content for each in other.list().memories] == [each.content for each in one.list().memories]
    assert Graph(other).entities.list() == Graph(one).entities.list()
    assert len(Graph(other).paths("Tom").paths) == len(Graph(one).paths("Tom").paths) > 0
    assert (
        [each.memory_id for each in other.admin.duplicates.repeats("f1")]
        == [each.memory_id for each in one.admin.duplicates.repeats("f1")]
        == ["again"]
    )
    assert other.admin.check() == one.admin.check() == []
    other.purge("f1")
    assert other.admin.check() == []


def contents(recall: Any) -> list[str]:
    return [hit.memory.content for hit in recall]


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), env={"FORCE_COLOR": None})
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.untraced
def test_the_command_line_opens_an_address(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    address, password = with_password(url)
    code, _, said = run("recall", "tea", "--db", address)
    assert (code, "no memories at" in said) == (3, True)
    assert run("remember", "Anna prefers green tea.", "--id", "tea", "--db", address)[:2] == (0, "tea\n")
    monkeypatch.setenv("MEMORATA_DB", address)
    code, out, _ = run("recall", "what tea?", "--json")
    assert (code, json.loads(out)["hits"][0]["memory"]["id"]) == (0, "tea")
    code, out, _ = run("doctor", "--json")
    assert json.loads(out)["db"]["memories"] == 1
    code, _, said = run("admin", "backup", "copy.db")
    assert (code, "pg_dump" in said) == (3, True)
    assert run("admin", "check")[0] == 0
    for command in (
        ["list"],
        ["namespace", "list"],
        ["admin", "stats"],
        ["doctor"],
        ["recall", "x", "--debug"],
        ["admin", "vacuum"],
    ):
        assert password not in "".join(map(str, run(*command)))


def test_settings_take_an_address_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://anna:hunter2@localhost/memories"
    assert str(Settings(db=url).db) == "postgresql://anna@localhost/memories"
    assert "hunter2" not in repr(Settings(db=url))
    (tmp_path / "memorata.toml").write_text(f'db = "{url}"\n')
    monkeypatch.setenv("MEMORATA_CONFIG", str(tmp_path / "memorata.toml"))
    assert str(Settings().db) == "postgresql://anna@localhost/memories"
    monkeypatch.setenv("MEMORATA_DB", "postgres://localhost/other")
    assert str(Settings().db) == "postgresql://localhost/other"


def test_what_cannot_be_opened_says_why(base: str, tmp_path: Path) -> None:
    with pytest.raises(ServerUnsuitable, match="createdb"):
        memorata.open(changed(base, dbname="nothing"), embedder=None)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        memorata.open("postgresql://127.0.0.1:1/x", embedder=None)


def test_a_copy_to_a_file_is_refused_with_what_to_do_instead(store: PostgresStore, tmp_path: Path) -> None:
    with pytest.raises(NotSupportedHere, match="use pg_dump"):
        store.backup(tmp_path / "copy.db")


@pytest.mark.parametrize(
    ("question", "most"),
    [
        # Who wrote; in one transaction, what a look begins with, cosines, lists, records of candidates and of
        # their neighbours, and for names that lead further the best memories, lists, and the other hits.
        ("red bicycle house", 11),
        # A transaction of two statements before that, to find out who speaks.
        ("what does Anna think of tea?", 13),
    ],
)
def test_a_recall_takes_few_statements(
    both: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch, question: str, most: int
) -> None:
    _, engine = both
    engine.recall(question)
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        asked.append(str(query))
        return execute(self, query, *args, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", noted)
    engine.recall(question)
    assert len(asked) <= most, asked


def end_later(monkeypatch: pytest.MonkeyPatch, base: str, statements: int) -> Iterator[bool]:
    """Let the connection end after some statements: beyond those that a verb begins with.

    Not so late that it is done by then. Return what is left of that plan.
    """
    execute = psycopg.Cursor.execute
    left = iter([*[False] * statements, True])

    def ending(self: Any, query: Any, *args: Any, **options: Any) -> Any:
        if next(left, False):
            with psycopg.connect(base, autocommit=True) as other:
                pid = self.connection.info.backend_pid
                execute(other.cursor(), "SELECT pg_terminate_backend(%s::int, 5000::bigint)", (pid,))
        return execute(self, query, *args, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", ending)
    return left


@pytest.mark.parametrize(
    ("verb", "statements"),
    [("remember", 15), ("recall", 6), ("confirm", 3), ("pin", 3), ("correct", 20), ("timeline", 4)],
)
def test_a_verb_whose_connection_ends_in_the_middle_is_done_all_the_same(
    both: tuple[Engine, Engine], base: str, monkeypatch: pytest.MonkeyPatch, verb: str, statements: int
) -> None:
    """Whichever statement it is that meets no server: a failover is not the caller's business."""
    verbs: dict[str, Callable[[Engine], Any]] = {
        "remember": lambda engine: engine.remember("Anna is allergic to walnuts and to hazelnuts.").mentions,
        "recall": lambda engine: contents(engine.recall(QUESTIONS[0])),
        "confirm": lambda engine: engine.admin.lifecycle.confirm("f1"),
        "pin": lambda engine: engine.admin.lifecycle.pin("f1", "f3"),
        "correct": lambda engine: engine.correct("f3", "Zoë sold the red bicycle.").supersedes,
        "timeline": lambda engine: [each.content for each in Graph(engine).timeline("Tom")],
    }
    file, server = both
    wanted = verbs[verb](file)
    left = end_later(monkeypatch, base, statements)
    assert verbs[verb](server) == wanted
    assert next(left, None) is None
    monkeypatch.undo()
    assert [each.content for each in server.list(hidden=True, limit=50).memories] == [
        each.content for each in file.list(hidden=True, limit=50).memories
    ]
    assert server.get("f1").mentions == file.get("f1").mentions


class Relating:
    """Reads one relation in every text."""

    name = "relating"

    def extract(self, texts: Sequence[str], known: Any = None) -> list[Extraction]:
        return [Extraction(relations=(Relation("Anna", "knows", "Ben"),)) for _ in texts]


def test_what_is_read_is_related_once_though_the_connection_ends(
    store: PostgresStore, used: str, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memorata.open(used, embedder="lexical", config={"extractor": Relating()}) as engine:
        engine.recall("warm")
        left = end_later(monkeypatch, base, statements=30)
        engine.remember("They have known each other for years.", id="a")
        assert next(left, None) is None
        monkeypatch.undo()
        assert [
            (each.source, each.target, each.asserted_by) for each in Graph(engine).entities.relations()
        ] == [("Anna", "Ben", "a")]
        assert engine.admin.check() == []
