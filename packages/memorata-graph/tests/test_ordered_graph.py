"""What is computed of a graph is the same however it has grown."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.profile import chosen

import memorata
from memorata import Engine
from memorata.model.query import When
from memorata_graph import Graph
from memorata_graph.namespace_graph import Graphs

NOW = datetime(2026, 5, 7, tzinfo=UTC)
PEOPLE = [f"Person {letter}" for letter in "ABCDEFGHIJKLMNOP"]


def graphs_of(memory: Engine) -> Graphs:
    return Graphs(memory.runtime)


@pytest.mark.untraced
@pytest.mark.parametrize("seed", range(chosen(2, 8)))
def test_a_graph_that_was_kept_is_ordered_as_one_that_is_built_anew(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    path, now = tmp_path / "m.db", NOW
    with memorata.open(path, embedder=None, clock=lambda: now, config={"extractor": None}) as memory:
        ids: list[str] = []
        watching = graphs_of(memory)
        for number in range(60):
            now += timedelta(minutes=1)
            kind = chance.random()
            if kind < 0.7 or not ids:
                said = memory.remember(f"Note {number}", entities=chance.sample(PEOPLE, chance.randint(0, 3)))
                ids.append(said.id)
            elif kind < 0.85:
                memory.forget(ids.pop(chance.randrange(len(ids))))
            else:
                place = chance.randrange(len(ids))
                ids[place] = memory.correct(ids[place], f"Note {number}, mended").id
            if chance.random() < 0.3:
                watching.at("default", now)
                Graph(memory).communities()
        kept, fresh = (graphs.at("default", now).graph for graphs in (watching, graphs_of(memory)))
        # Not their summaries, which are kept as long as their members stay the same.
        members = [(group.memories, group.entities) for group in Graph(memory).communities().groups]
        with memorata.open(path, embedder=None, clock=lambda: now, config={"extractor": None}) as another:
            assert [
                (group.memories, group.entities) for group in Graph(another).communities().groups
            ] == members
    assert len(members) > 1
    assert all(
        getattr(kept, name).tolist() == getattr(fresh, name).tolist()
        for name in ("sources", "targets", "weights", "types")
    )


def scores(memory: Engine, leg: str, question: str) -> list[tuple[str, str, str]]:
    recipe = {"graph": leg, "graph_weight": 0.5, "least_similarity": 0.0}
    found = memory.recall(question, recipe=recipe, limit=100, when=When(now=NOW))
    return [(hit.memory.id, hit.score.hex(), str(hit.explanation)) for hit in found]


@pytest.mark.untraced
@pytest.mark.parametrize("seed", range(chosen(2, 8)))
@pytest.mark.parametrize("leg", ["walk", "paths", "communities"])
def test_a_leg_over_a_graph_that_was_kept_finds_what_it_finds_in_one_built_anew(
    leg: str, seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"extractor": None}) as memory:
        ids: list[str] = []
        for number in range(80):
            if chance.random() < 0.7 or not ids:
                names = chance.sample(PEOPLE, chance.randint(1, 4))
                said = memory.remember(f"Tea {number} in the garden", entities=names, duplicates="off")
                ids.append(said.id)
            elif chance.random() < 0.5:
                memory.forget(ids.pop(chance.randrange(len(ids))))
            else:
                memory.update(chance.choice(ids), importance=chance.random())
            if chance.random() < 0.3:
                memory.recall("tea", recipe={"graph": leg}, when=When(now=NOW))
        asked = [f"{name} had tea in the garden" for name in PEOPLE]
        kept = [scores(memory, leg, question) for question in asked]
    with memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"extractor": None}) as another:
        assert [scores(another, leg, question) for question in asked] == kept
    assert sum(map(len, kept)) > len(PEOPLE)


def test_paths_that_are_cut_short_are_the_same_however_the_graph_has_grown(tmp_path: Path) -> None:
    path = tmp_path / "m.db"

    def found(memory: Engine) -> list[str]:
        return [str(each) for each in Graph(memory).paths("Zoe", paths=5, depth=2).paths]

    with memorata.open(path, embedder=None, clock=lambda: NOW, config={"extractor": None}) as memory:
        for number in range(9):
            memory.remember(f"Note {number}", id=f"m{number}", entities=["Zoe", PEOPLE[-number]])
        found(memory)
        # It is taken out of the graph that is kept, and put in again at the end.
        memory.update("m0", importance=0.9)
        kept = found(memory)
    with memorata.open(path, embedder=None, clock=lambda: NOW, config={"extractor": None}) as another:
        assert found(another) == kept
    assert kept[0] == f"Zoe ←mentions— m0 —mentions→ {PEOPLE[0]}"


def test_a_longer_name_that_nobody_mentions_any_more_does_not_hide_the_shorter(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"extractor": None}) as memory:
        memory.remember("The boat is blue", id="boat", entities=["Anna"])
        memory.remember("The cat is grey", id="cat", entities=["Anna Long"])
        scores(memory, "paths", "Anna Long")
        memory.forget("cat")
        kept = scores(memory, "paths", "Anna Long")
    assert "boat" in [id_ for id_, _, _ in kept]
    with memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"extractor": None}) as another:
        assert scores(another, "paths", "Anna Long") == kept
