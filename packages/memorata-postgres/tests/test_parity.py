"""Random sequences of verbs are answered by a server as by a file: values, orders, errors and their words."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import memorata
from memorata import Query, When
from memorata.engine.engine import Engine
from memorata.engine.recipes import RECIPES
from memorata.model.entity import Place
from memorata.model.errors import MemorataError
from memorata.model.memory import Source, Tier
from memorata.model.query import PRESENT
from memorata_graph import Graph
from memorata_postgres.store import PostgresStore

START = datetime(2026, 5, 7, 12, tzinfo=UTC)
NAMES = ("Anna", "Ben", "Zoë", "İstanbul", "Мария")
WORDS = (
    "green", "tea", "coffee", "harbour", "red", "bicycle", "chess", "moved", "likes", "hates", "not",
    "yesterday", "чай", "straße", "12",
)  # fmt: skip
SPACES = ("default", "default", "acme/x", "Acme/x")
Verb = Callable[[Engine], Any]


class Clock:
    """Both are asked at the same moments."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def told(value: Any) -> Any:
    """Return an answer as plain data."""
    if is_dataclass(value):
        return {
            each.name: told(getattr(value, each.name))
            for each in fields(value)
            if each.name not in ("explain", "estimate")
        }
    if isinstance(value, Mapping):
        return [(told(key), told(each)) for key, each in value.items()]
    return [told(each) for each in value] if isinstance(value, list | tuple) else value


def near(value: Any) -> Any:
    """Return plain data that equals what differs from it by a rounding of cosines."""
    if isinstance(value, dict):
        return {name: near(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(near(each) for each in value)
    return pytest.approx(value, abs=1e-6) if isinstance(value, float) else value


def answered(engine: Engine, verb: Verb) -> Any:
    try:
        return told(verb(engine))
    except MemorataError as error:
        return type(error).__name__, str(error)


class Chance:
    """Makes up verbs, each with an id of its own for what it remembers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ids = ["nobody"]

    def text(self) -> str:
        return " ".join(self.random.choices((*WORDS, *NAMES), k=self.random.randint(1, 8)))

    def id(self) -> str:
        return self.random.choice(self.ids)

    def instant(self) -> datetime:
        return START + timedelta(days=self.random.choice((-400, -1, 0, 1, 20)))

    def details(self) -> dict[str, Any]:
        pick, some = self.random.choice, self.random.sample
        every: dict[str, Any] = {
            "tier": pick(list(Tier)),
            "confidence": pick((0.0, 1 / 3, 1.0)),
            "tags": tuple(some(("tea", "Tea", "a\0"), 2)),
            "metadata": {"n": pick((1, 1.0, True, "1", 2**70, None)), "k\0": {"x.y": "é"}},
            "source": Source(pick(("", "Anna")), pick(("", "s1", "s\0")), pick((None, 0, 3))),
            "place": pick((Place(52.5, 13.4), Place(-90, 0), None)),
            "valid_from": self.instant(),
            "expires_at": self.instant() + timedelta(days=3),
            "mentions": pick((1, 2, 2**63)),
        }
        return {name: every[name] for name in some(sorted(every), 2)}

    def filter(self) -> dict[str, Any]:
        conditions: list[dict[str, Any]] = [
            {"tags": {"any": ["tea", "a\0"]}},
            {"metadata.n": {"in": [1, "1", None]}},
            {"content": {"contains": "STRASSE"}},
            {"session": {"exists": False}},
            {"confidence": {"<": 1}},
        ]
        one, other = self.random.sample(conditions, 2)
        return self.random.choice(({"or": [one, other]}, {"not": one}, one | other))

    def verb(self, step: int) -> tuple[str, Verb]:
        text, other, id_, more, name = self.text(), self.text(), self.id(), self.details(), f"m{step}"
        space, person = self.random.choice(SPACES), self.random.choice(NAMES)
        options: dict[str, Any] = self.random.choice(
            (
                {},
                {"filter": self.filter()},
                {"when": When(as_of=self.instant())},
                {"when": When(true_at=self.instant())},
                {"query": Query(text, near=Place(52, 13))},
                {"query": Query(text, sessions=True)},
                {"budget": 20},
                {"recipe": self.random.choice(sorted(RECIPES))},
            )
        )
        mode = self.random.choice(("near", "exact", "off"))
        verbs: dict[str, Verb] = {
            "remember": lambda engine: engine.remember(
                text, id=name, namespace=space, duplicates=mode, **more
            ),
            "remember_many": lambda engine: engine.remember_many(
                [
                    {"content": text, "id": name, **more},
                    {"content": other, "id": f"{name}b"},
                    {"content": text, "id": f"{name}c"},
                ],
                namespace=space,
                duplicates=mode,
            ),
            "correct": lambda engine: engine.remember(text, id=name, namespace=space, supersedes=(id_,)),
            "forget": lambda engine: engine.forget(id_, namespace=space),
            "restore": lambda engine: engine.restore(id_, namespace=space),
            "purge": lambda engine: engine.purge(id_, namespace=space),
            "change": lambda engine: engine.update(id_, namespace=space, **more),
            "confirm": lambda engine: engine.admin.lifecycle.confirm(id_, namespace=space),
            "history": lambda engine: engine.history(id_, namespace=space),
            "relate": lambda engine: Graph(engine).entities.relate(person, "knows", "Ben", namespace=space),
            "describe": lambda engine: Graph(engine).entities.describe(
                person, aliases=["Annie"], namespace=space
            ),
            "entities": lambda engine: Graph(engine).entities.list(namespace=space),
            "timeline": lambda engine: Graph(engine).timeline(
                person, as_of=options.get("when", PRESENT).as_of, namespace=space
            ),
            "near": lambda engine: Graph(engine).near(52.5, 13.4, namespace=space),
            "contradictions": lambda engine: engine.admin.duplicates.contradictions(namespace=space),
            "list": lambda engine: (
                engine.list(filter=options.get("filter"), hidden=True, namespace=space).memories
            ),
            "records": lambda engine: states(engine, space),
        }
        known = self.random.choices(("remember", "recall", "other"), (4, 4, 7))[0]
        if known == "recall":
            return f"recall {text!r} {options}", lambda engine: recalled(engine, text, space, options)
        known = self.random.choice(sorted(verbs)) if known == "other" else known
        if known in ("remember", "remember_many", "correct"):
            self.ids.append(name)
        return f"{known} {text!r} {id_} {space} {more}", verbs[known]


def recalled(engine: Engine, question: str, namespace: str, options: dict[str, Any]) -> Any:
    """Return all that a recall answers but its id, which is drawn, and how it was found."""
    found = engine.recall(**{"query": question} | options, namespace=namespace)
    reasons = [(hit.explanation.as_dict(), hit.confidence) for hit in found.hits]
    return found.hits, reasons, found.sessions, found.degraded, found.rejected, found.omitted, found.support


def states(engine: Engine, namespace: str) -> list[int]:
    """Return the state of every slot that was ever given out."""
    with engine.store.view(namespace, START) as view:
        slots = np.arange(engine.store.graph.delta(namespace, 0).slots)
        found: list[int] = view.records(slots)["state"].tolist()
        return found


@pytest.fixture
def both(store: PostgresStore, used: str) -> Iterator[tuple[Clock, list[Engine]]]:
    clock = Clock()
    with ExitStack() as opened:
        yield (
            clock,
            [
                opened.enter_context(memorata.open(where, embedder="lexical", clock=clock))
                for where in (":memory:", used)
            ],
        )


@pytest.mark.untraced
@pytest.mark.parametrize("seed", range(4))
def test_every_verb_is_answered_alike(both: tuple[Clock, list[Engine]], seed: int) -> None:
    clock, (file, server) = both
    chance = Chance(seed)
    for step in range(80):
        clock.now += timedelta(hours=chance.random.choice((0, 1, 30)))
        what, verb = chance.verb(step)
        assert answered(server, verb) == near(answered(file, verb)), (step, what)
    assert told(list(server.store.export(None))) == told(list(file.store.export(None)))
    assert server.admin.check() == file.admin.check() == []
